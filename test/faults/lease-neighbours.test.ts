// Leases of one process are extended together: one whose key cannot be read, or may not be, harms no other.

import type { Redis } from 'ioredis'
import { LeaseLostError, type Perilune } from 'perilune'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Scene, scene } from '../lease-fixture.ts'
import { gate } from '../once-fixture.ts'
import { until } from '../servers/ask.ts'
import { someOf } from '../proof.ts'

const LEASE_MS = 1500
const COUNT = 5

interface Held {
  readonly signal: AbortSignal
  /** The key that an extension writes. */
  readonly key: string
}

interface Neighbours {
  /** Takes one lease for each place, so long as the test. */
  take(redis: Perilune, name: string, at: number): Promise<Held>
  /** When it ends by the server's clock. */
  endsAtMs(admin: Redis, key: string): Promise<number>
  /** As a version after this one might store it. */
  renew(admin: Redis, key: string): Promise<unknown>
}

const hash = {
  endsAtMs: async (admin: Redis, key: string) => Number(await admin.hget(key, 'lease_ends_ms')),
  renew: (admin: Redis, key: string) => admin.hset(key, 'layout', '2'),
}

const NEIGHBOURS: Readonly<Record<string, Neighbours>> = {
  locks: {
    take: async (redis, name, at) => {
      const { signal } = await redis.lock(`${name}-${at}`, { lease: `${LEASE_MS}ms` }).acquire()
      return { signal, key: `leases:{lock:${name}-${at}}:state` }
    },
    endsAtMs: async (admin, key) => Number((await admin.get(key))?.split(' ')[3]),
    renew: async (admin, key) => admin.set(key, `2 ${await admin.get(key)}`, 'KEEPTTL'),
  },
  'attempts of once': {
    take: async (redis, name, at) => {
      const begun = await redis.once(name, { lease: `${LEASE_MS}ms` }).begin(`key-${at}`)
      if (begun.status !== 'started') throw new Error(begun.status)
      return { signal: begun.attempt.signal, key: `leases:{once:${name}:key-${at}}:state` }
    },
    ...hash,
  },
  'loads of a cache': {
    take: (redis, name, at) =>
      new Promise((resolve, reject) => {
        const cache = redis.cache(name, { lease: `${LEASE_MS}ms` })
        const { opened, open } = gate()
        onTestFinished(open)
        const load = async ({ signal }: { signal: AbortSignal }): Promise<string> => {
          resolve({ signal, key: `leases:{cache:${name}:key-${at}}:load` })
          await opened
          return 'loaded'
        }
        cache.get(`key-${at}`, load).catch(reject)
      }),
    ...hash,
  },
}

type Spoil = (scene: Scene, neighbours: Neighbours, key: string) => Promise<unknown>

const SPOILED: Readonly<Record<string, Spoil>> = {
  'has become one of another type': async ({ admin }, _, key) => {
    await admin.multi().del(key).lpush(key, 'of another application').exec()
  },
  'has become one of a newer layout': ({ admin }, { renew }, key) => renew(admin, key),
  'may not be touched any more': async ({ admin }) => {
    const others = Array.from({ length: COUNT - 1 }, (_, at) => `~*-${at + 1}}*`)
    await admin.call('ACL', 'SETUSER', 'holder', 'resetkeys', ...others)
  },
}

describe.each(someOf(Object.entries(NEIGHBOURS), 2))('%s', (_, neighbours) => {
  test.each(Object.entries(SPOILED))('are kept next to one whose key %s', async (_how, spoil) => {
    const stage = await scene()
    const { redis, admin, name } = stage
    const held = await Promise.all(
      Array.from({ length: COUNT }, (_each, at) => neighbours.take(redis, name, at)),
    )
    const [spoiled, ...others] = held as [Held, ...Held[]]

    await spoil(stage, neighbours, spoiled.key)
    const spoiledAtMs = Date.now()

    for (const { key } of others) {
      const isKept = async (): Promise<boolean> =>
        (await neighbours.endsAtMs(admin, key)) > spoiledAtMs + 2 * LEASE_MS
      await until('it is extended beyond what was left of its lease', isKept)
    }
    expect(others.filter(({ signal }) => signal.aborted)).toEqual([])
    expect(spoiled.signal.reason).toBeInstanceOf(LeaseLostError)
  })
})

test('an extension by hand reports why its key cannot be read', async () => {
  const { redis, admin, name } = await scene()
  const lease = await redis.lock(name).acquire()
  const key = `leases:{lock:${name}}:state`
  await admin.set(key, `2 ${await admin.get(key)}`, 'KEEPTTL')

  await expect(lease.extend()).rejects.toMatchObject({ code: 'unknown-layout' })
  await expect(redis.lock(name).byToken.extend(lease.token, '1s')).rejects.toMatchObject({
    code: 'unknown-layout',
  })
  lease.assertHeld()
})
