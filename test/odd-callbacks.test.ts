// Whatever code of the user throws, in whichever callback: its caller gets that very thing, and nothing stays held,
// begun or stored. Handlers of a worker have a test of their own: src/queue/worker/odd-handlers.test.ts.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import {
  type CacheEvent,
  type Codec,
  LoadFailedError,
  type Perilune,
  perilune,
  ResultNotKeptError,
} from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { withIdempotency, withRateLimit, withResponseCache } from 'perilune/middleware'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { ODD_THROWS } from './odd-throws.ts'
import { gate } from './once-fixture.ts'
import { collectUncaught } from './uncaught.ts'

interface Scene {
  readonly redis: Perilune
  /** The name of the unit under test, unused so far. */
  readonly name: string
  /** Throws what is odd. */
  fail(): never
}

interface Callback {
  /** Calls it; rejects with what it throws. */
  call(scene: Scene): Promise<unknown>
  /** Checks that the call has left nothing. */
  left?(scene: Scene): Promise<void>
}

function connect(): Perilune {
  const client = new Redis(inject('redisPort'))
  const redis = perilune(ioredis(client), { namespace: 'odd-callbacks' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

const encoding = ({ fail }: Scene): Codec<unknown> => ({ name: 'json', encode: fail, decode: String })
const post = (headers: Record<string, string> = {}): Request =>
  new Request('http://localhost/', { method: 'POST', body: '{}', headers })
const keyed = (): Request => post({ 'idempotency-key': '"one"' })
const get = (): Request => new Request('http://localhost/')
const answer = (): Response => new Response('answer')

const TASKS: Record<string, Callback> = {
  'the task under a lock': {
    call: ({ redis, name, fail }) => redis.lock(name).run(fail),
    left: async ({ redis, name }) => expect(await redis.lock(name).run(() => undefined)).toBeUndefined(),
  },
  'the task under a lock, async': {
    call: ({ redis, name, fail }) => redis.lock(name).run(async () => fail()),
    left: async ({ redis, name }) => expect(await redis.lock(name).run(() => undefined)).toBeUndefined(),
  },
  'the task under several locks': {
    call: ({ redis, name, fail }) => redis.locks([name, `${name}-b`]).run(fail),
    left: async ({ redis, name }) =>
      expect(await redis.lock(`${name}-b`).run(() => undefined)).toBeUndefined(),
  },
  'the task under a semaphore': {
    call: ({ redis, name, fail }) => redis.semaphore(name, { limit: 1 }).run(fail),
    left: async ({ redis, name }) =>
      expect(await redis.semaphore(name, { limit: 1 }).run(() => undefined)).toBeUndefined(),
  },
  'the task of a key': {
    call: ({ redis, name, fail }) => redis.once(name).run('a', fail),
    left: async ({ redis, name }) => expect(await redis.once(name).run('a', () => 'again')).toBe('again'),
  },
  'the loader of a cache': {
    call: ({ redis, name, fail }) => redis.cache(name).get('a', fail),
    left: async ({ redis, name }) => expect(await redis.cache(name).get('a', () => 'again')).toBe('again'),
  },
  'the loader of several keys': {
    call: ({ redis, name, fail }) => redis.cache(name).getMany(['a'], fail),
    left: async ({ redis, name }) => expect(await redis.cache(name).get('a', () => 'again')).toBe('again'),
  },
}

const CODECS: Record<string, Callback> = {
  'the codec of a feed': {
    call: (scene) => scene.redis.feed(scene.name, { codec: encoding(scene) }).append('a'),
    left: async ({ redis, name }) => expect((await redis.feed(name).read()).messages).toEqual([]),
  },
  'the codec of a queue': {
    call: (scene) => scene.redis.queue(scene.name, { codec: encoding(scene) }).enqueue('a', 1),
    left: async ({ redis, name }) => expect(await redis.queue(name).claim()).toEqual([]),
  },
  'the codec of a cache': {
    call: (scene) => scene.redis.cache(scene.name, { codec: encoding(scene) }).get('a', () => 1),
    left: async ({ redis, name }) => expect(await redis.cache(name).get('a', () => 2)).toBe(2),
  },
  'the codec of a key': {
    call: (scene) => scene.redis.once(scene.name, { codec: encoding(scene) }).run('a', () => 1),
  },
  'the codec of a collection': {
    call: (scene) =>
      scene.redis.collection(scene.name, { kind: 'list', codec: encoding(scene) }).replace(['a']),
  },
  'the hook of a queue that makes traces': {
    call: ({ redis, name, fail }) => redis.queue(name, { hooks: { trace: fail } }).enqueue('a', 1),
    left: async ({ redis, name }) => expect(await redis.queue(name).claim()).toEqual([]),
  },
  'the schema of a queue': {
    call: ({ redis, name, fail }) => {
      const schemas = { a: { '~standard': { version: 1, vendor: 'odd', validate: fail } } } as const
      return redis.queue(name, { schemas }).enqueue('a', 1)
    },
    left: async ({ redis, name }) => expect(await redis.queue(name).claim()).toEqual([]),
  },
  'what a collection is filled with': {
    call: ({ redis, name, fail }) => {
      const items = function* (): Generator<string> {
        yield 'a'
        fail()
      }
      return redis.collection<string>(name, { kind: 'list' }).replace(items())
    },
    left: async ({ redis, name }) =>
      expect((await redis.collection<string>(name, { kind: 'list' }).read()).status).toBe('absent'),
  },
}

const MIDDLEWARE: Record<string, Callback> = {
  'the subject of a rate limit': {
    call: ({ redis, name, fail }) =>
      withRateLimit(redis.rateLimit(name, { limit: 1, window: '1h' }), { subject: fail }, answer)(get()),
  },
  'the cost of a rate limit': {
    call: ({ redis, name, fail }) => {
      const limiter = redis.rateLimit(name, { limit: 1, window: '1h' })
      return withRateLimit(limiter, { subject: () => 'a', cost: fail }, answer)(get())
    },
  },
  'the handler behind a rate limit': {
    call: ({ redis, name, fail }) => {
      const limiter = redis.rateLimit(name, { algorithm: 'concurrency', limit: 1, lease: '1h' })
      return withRateLimit(limiter, { subject: () => 'a' }, fail)(get())
    },
    left: async ({ redis, name }) => {
      const limiter = redis.rateLimit(name, { algorithm: 'concurrency', limit: 1, lease: '1h' })
      await expect.poll(async () => (await limiter.get('a')).allowed).toBe(true)
    },
  },
  'the subject of an idempotency key': {
    call: ({ redis, name, fail }) => withIdempotency(redis.once(name), { subject: fail }, answer)(keyed()),
  },
  'the fingerprint of an idempotency key': {
    call: ({ redis, name, fail }) =>
      withIdempotency(redis.once(name), { fingerprint: fail }, answer)(keyed()),
  },
  'the handler behind an idempotency key': {
    call: ({ redis, name, fail }) => withIdempotency(redis.once(name), {}, fail)(keyed()),
    left: async ({ redis, name }) =>
      expect(await (await withIdempotency(redis.once(name), {}, answer)(keyed())).text()).toBe('answer'),
  },
  'the key of a response': {
    call: ({ redis, name, fail }) => withResponseCache(redis.cache(name), { key: fail }, answer)(get()),
  },
  'the tags of a response': {
    call: ({ redis, name, fail }) => withResponseCache(redis.cache(name), { tags: fail }, answer)(get()),
  },
  'the handler behind a cache of responses': {
    call: ({ redis, name, fail }) => withResponseCache(redis.cache(name), {}, fail)(get()),
  },
}

/** The rejection of a promise, in a box: it may be any value. */
async function rejection(promise: Promise<unknown>): Promise<readonly unknown[]> {
  return promise.then(
    () => [],
    (thrown: unknown) => [thrown],
  )
}

describe.each(Object.entries({ ...TASKS, ...CODECS, ...MIDDLEWARE }))('%s', (_, { call, left }) => {
  test('may throw any value: it reaches the caller, and the call leaves nothing', async () => {
    const redis = connect()
    for (const [what, make] of Object.entries(ODD_THROWS)) {
      const thrown = make()
      const fail = (): never => {
        throw thrown
      }
      const scene = { redis, name: randomUUID(), fail }
      const rejected = await rejection(call(scene))

      expect(rejected.length === 1 && Object.is(rejected[0], thrown), what).toBe(true)
      await left?.(scene)
    }
  })
})

test('a codec may throw any value when it decodes: the cache loads, once rejects, and both report that same value', async () => {
  const redis = connect()
  for (const [what, make] of Object.entries(ODD_THROWS)) {
    const [name, thrown] = [randomUUID(), make()]
    const fail = (): never => {
      throw thrown
    }
    const codec: Codec<unknown> = { name: 'json', encode: JSON.stringify, decode: fail }
    const errors: unknown[] = []
    const hooks = {
      event: (event: CacheEvent) => void (event.kind === 'undecodable' && errors.push(event.error)),
    }
    await redis.cache(name).set('a', 1)
    expect(await redis.cache(name, { codec, hooks }).get('a', () => 2), what).toBe(2)

    await redis.once(name).run('a', () => 1)
    const [error] = await rejection(redis.once(name, { codec }).run('a', () => 2))
    errors.push((error as ResultNotKeptError).cause)
    expect(error, what).toBeInstanceOf(ResultNotKeptError)
    expect(errors.length === 2 && errors.every((each) => Object.is(each, thrown)), what).toBe(true)
  }
})

test('a waiter for a load of another process gets an error with the text of what its loader threw', async () => {
  const [loading, waiting] = [connect(), connect()]
  for (const [what, make] of Object.entries(ODD_THROWS)) {
    const name = randomUUID()
    let fail: () => void = () => undefined
    const { opened: begun, open: begin } = gate()
    const own = rejection(
      loading.cache(name).get('a', async () => {
        begin()
        await new Promise<void>((resolve) => (fail = resolve))
        throw make()
      }),
    )
    await begun
    const others = rejection(waiting.cache(name).get('a', () => 'late'))
    // The other one waits by then; otherwise it loads itself.
    await new Promise((resolve) => setTimeout(resolve, 20))
    fail()

    expect(await own, what).toHaveLength(1)
    const [rejected] = await others
    if (rejected !== undefined) {
      expect(rejected, what).toBeInstanceOf(LoadFailedError)
      expect((rejected as Error).message, what).toMatch(/failed: ./)
    }
  }
})

const SWALLOWING: Record<string, (scene: Scene) => Promise<unknown>> = {
  'the onError of a campaign': async ({ redis, name, fail }) => {
    const { opened: elected, open } = gate()
    const onError = (): void => {
      open()
      fail()
    }
    await using _campaign = redis.election(name).campaign(fail, { onError })
    await elected
  },
  'the hook of a cache': ({ redis, name, fail }) =>
    redis.cache(name, { hooks: { event: fail } }).get('a', () => 1),
}

describe.each(Object.entries(SWALLOWING))('%s', (_, call) => {
  test('may throw any value: it causes nothing but an uncaught exception', async () => {
    const uncaught = collectUncaught()
    const redis = connect()
    for (const make of Object.values(ODD_THROWS).slice(0, 6)) {
      const fail = (): never => {
        throw make()
      }
      await call({ redis, name: randomUUID(), fail })
    }

    await expect.poll(() => uncaught.length).toBeGreaterThan(0)
  })
})
