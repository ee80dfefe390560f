// A codec of a caller without types returns what is neither text nor bytes: the call is refused before anything is
// written, with the name of its argument.

import { runInNewContext } from 'node:vm'
import { type Codec, InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { type Instance, instance } from './instance.ts'

/** An ArrayBuffer has a length in bytes, too. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as a caller without types would write it
const odd = {
  name: 'odd',
  encode: (value: number[]) => Uint8Array.from(value).buffer,
  decode: (bytes: Buffer) => [...bytes],
} as unknown as Codec<number[]>

const VALUE = [1, 2, 3]

const calls: Readonly<Record<string, (at: Instance) => Promise<unknown>>> = {
  'cache.set': ({ redis, name }) => redis.cache(name, { codec: odd }).set('a', VALUE),
  'cache.get': ({ redis, name }) => redis.cache(name, { codec: odd, wait: '5s' }).get('a', () => VALUE),
  'set.add': ({ redis, name }) => redis.collection(name, { kind: 'set', codec: odd }).add([VALUE]),
  'set.remove': ({ redis, name }) => redis.collection(name, { kind: 'set', codec: odd }).remove([VALUE]),
  'hash.replace': ({ redis, name }) =>
    redis.collection(name, { kind: 'hash', codec: odd }).replace([['a', VALUE]]),
  'once.run': ({ redis, name }) => redis.once(name, { codec: odd }).run('a', () => VALUE),
  'fenced.set': ({ redis, name }) => redis.fenced(name, { codec: odd }).set(VALUE, 1),
  'feed.append': ({ redis, name }) => redis.feed(name, { codec: odd }).append(VALUE),
  'queue.enqueue': ({ redis, name }) => redis.queue(name, { codec: odd }).enqueue('a', VALUE),
  'autocomplete.add': ({ redis, name }) =>
    redis.autocomplete(name, { codec: odd }).add('text', { payload: VALUE }),
}

test.each(Object.entries(calls))('%s', async (_, call) => {
  const error = await call(instance()).catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(String(error)).toMatch(/must be encoded as text or bytes/)
})

test('bytes of another realm are bytes', async () => {
  const { redis, name } = instance()
  const foreign: Codec<number> = {
    name: 'foreign',
    encode: () => runInNewContext('Uint8Array.of(1, 2)') as Uint8Array,
    decode: (bytes) => bytes.length,
  }

  await redis.cache(name, { codec: foreign }).set('a', 1)
  await redis.feed(name, { codec: foreign }).append(1)

  expect(await redis.cache(name, { codec: foreign }).get('a', () => 0)).toBe(2)
})

test('a codec may encode every value into one buffer', async () => {
  const { redis, name } = instance()
  const buffer = Buffer.alloc(1)
  const codec: Codec<number> = {
    name: 'scratch',
    encode: (value) => {
      buffer[0] = value
      return buffer
    },
    decode: (bytes) => bytes[0] ?? 0,
  }
  const feed = redis.feed<number>(name, { codec })
  const cache = redis.cache<number>(name, { codec })
  const queue = redis.queue<Record<string, number>>(name, { codec })

  await Promise.all(
    [1, 2, 3].flatMap((n) => [feed.append(n), cache.set(`k${n}`, n), queue.enqueue('job', n)]),
  )

  const { messages } = await feed.read()
  expect(messages.map(({ body }) => body)).toEqual([1, 2, 3])
  expect(await Promise.all([1, 2, 3].map((n) => cache.get(`k${n}`, () => 0)))).toEqual([1, 2, 3])
  expect((await queue.claim({ limit: 3 })).map(({ payload }) => payload)).toEqual([1, 2, 3])
})
