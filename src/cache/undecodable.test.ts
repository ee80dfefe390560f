// Values that their codec cannot decode, stored by another version or another language. A cache treats them as
// absent.

import type { Cache, CacheEvent, Codec } from 'perilune'
import { keyvStore } from 'perilune/keyv'
import { expect, test } from 'vitest'
import { instance } from '../../test/instance.ts'

/** Decodes only texts that begin with `new`, like a newer version. */
const strict: Codec<string> = {
  name: 'text',
  encode: (value) => value,
  decode: (bytes) => {
    const text = Buffer.from(bytes).toString()
    if (!text.startsWith('new')) throw new TypeError(`what is ${text}?`)
    return text
  },
}
const lax: Codec<string> = { ...strict, decode: (bytes) => Buffer.from(bytes).toString() }

const STALE = { ttl: '1ms', staleWhileRevalidate: '1h' } as const

interface Versions {
  readonly old: Cache<string>
  readonly cache: Cache<string>
  readonly events: CacheEvent[]
}

function versions(options: object = {}): Versions {
  const events: CacheEvent[] = []
  const { redis, name } = instance()
  const old = instance().redis.cache<string>(name, { codec: lax })
  const hooks = { event: (event: CacheEvent) => void events.push(event) }
  return { old, cache: redis.cache<string>(name, { codec: strict, hooks, ...options }), events }
}

const levels: [name: string, options: object][] = [
  ['from Redis', {}],
  ['from this process', { l1: { count: 10 } }],
  ['from this process, shared', { l1: { count: 10, share: true } }],
]

test.each(levels)('an undecodable value is loaded once, and then served (%s)', async (_, options) => {
  const { old, cache, events } = versions(options)
  await old.set('a', 'old')
  let loads = 0
  const load = async (): Promise<string> => `new ${(loads += 1)}`

  const all = await Promise.all(Array.from({ length: 5 }, () => cache.get('a', load)))
  expect(all).toEqual(all.map(() => 'new 1'))
  expect(await cache.get('a', load)).toBe('new 1')
  expect(events).toContainEqual({ kind: 'undecodable', key: 'a', error: new TypeError('what is old?') })
  expect(events.filter(({ kind }) => kind === 'loaded')).toHaveLength(1)
})

test('a stale undecodable value is loaded, too', async () => {
  const { old, cache } = versions()
  await old.set('a', 'old', STALE)
  await new Promise((resolve) => setTimeout(resolve, 5))

  expect(await cache.get('a', () => 'new')).toBe('new')
})

test('an undecodable value does not affect other keys', async () => {
  const { old, cache } = versions()
  await Promise.all([old.set('a', 'old'), old.set('b', 'new b')])
  const asked: string[][] = []

  const values = await cache.getMany(['a', 'b'], (keys) => {
    asked.push([...keys])
    return new Map(keys.map((key) => [key, `new ${key}`]))
  })

  expect([...values]).toEqual([
    ['a', 'new a'],
    ['b', 'new b'],
  ])
  expect(asked).toEqual([['a']])
})

test('an undecodable value is not found, and may be loaded detached', async () => {
  const { old, cache } = versions()
  await old.set('a', 'old')

  expect(await cache.getEntry('a')).toBe(null)
  expect(await keyvStore(cache).getMany(['a', 'b'])).toEqual([undefined, undefined])
  const load = await cache.loadDetached('a')
  expect(load.status).toBe('elected')
  if (load.status === 'elected') await cache.byToken.complete('a', load.load, 'new')
  expect((await cache.getEntry('a'))?.value).toBe('new')
})

test('a failed load of an undecodable value rejects, and so do gets just after it', async () => {
  const { old, cache } = versions()
  await old.set('a', 'old')
  const failing = (): never => {
    throw new Error('no source')
  }

  await expect(cache.get('a', failing)).rejects.toThrow('no source')
  await expect(cache.get('a', () => 'new')).rejects.toThrow('the cached value cannot be decoded')
  await expect.poll(() => cache.get('a', () => 'new').catch(() => null)).toBe('new')
})

test('a value stored meanwhile by an older version is loaded again', async () => {
  const { old, cache } = versions()
  await old.set('a', 'old')
  const values = await Promise.all([
    cache.get('a', async () => {
      await old.set('a', 'old again')
      return 'new 1'
    }),
    cache.get('a', () => 'new 2'),
  ])

  expect(values.every((value) => value.startsWith('new'))).toBe(true)
  expect(await cache.get('a', () => 'new 3')).toMatch(/^new/)
})
