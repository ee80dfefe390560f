// A user of several structures relies on this: a missing value is null in every answer, and never 0, -1 or ''.

import type { Perilune } from 'perilune'
import { expect, test } from 'vitest'
import { PLACES, setup } from './fixture.ts'

type Pictured = [
  structure: string,
  inspect: (redis: Perilune, name: string) => Promise<object>,
  nulls: object,
]

const pictures: Pictured[] = [
  ['lock', (redis, name) => redis.lock(name).inspect(), { token: null }],
  ['semaphore', (redis, name) => redis.semaphore(name, { limit: 1 }).inspect(), { token: null }],
  [
    'once',
    (redis, name) => redis.once(name).inspect('k'),
    { token: null, fingerprint: null, expiresAtMs: null, keptUntilMs: null, codec: null },
  ],
  ['feed', (redis, name) => redis.feed(name).inspect(), { oldest: null, newest: null, codec: null }],
  ['queue', (redis, name) => redis.queue(name).inspect(), { beganAtMs: null, oldestAtMs: null, codec: null }],
  [
    'queue in partitions',
    (redis, name) => redis.queue(name, { partitions: 2 }).inspect(),
    { beganAtMs: null, oldestAtMs: null },
  ],
  [
    'cache',
    (redis, name) => redis.cache(name).inspect('k'),
    {
      createdAtMs: null,
      loadMs: null,
      freshUntilMs: null,
      staleUntilMs: null,
      version: null,
      codec: null,
      load: null,
    },
  ],
  ['autocomplete', (redis, name) => redis.autocomplete(name).inspect(), { codec: null }],
  ['collection', (redis, name) => redis.collection(name, { kind: 'list' }).inspect(), { exists: false }],
  ['rateLimit', (redis, name) => redis.rateLimit(name, PLACES).inspect('ada'), { exists: false, held: [] }],
]

test.each(pictures)('an unused %s has null where there is nothing', async (_, inspect, nulls) => {
  const { redis, name } = setup()
  expect(await inspect(redis, name)).toMatchObject(nulls)
})

test('a granted token is shown when its lease has ended', async () => {
  const { redis, name } = setup()
  const [lock, semaphore, once] = [redis.lock(name), redis.semaphore(name, { limit: 1 }), redis.once(name)]
  const [lease, permit, begun] = [await lock.acquire(), await semaphore.acquire(), await once.begin('k')]
  if (begun.status === 'started') await begun.attempt.complete(1)
  await Promise.all([lease.release(), permit.release()])

  expect((await lock.inspect()).token).toBe(lease.token)
  expect((await semaphore.inspect()).token).toBe(permit.token)
  expect((await once.inspect('k')).token).toBe(begun.status === 'started' ? begun.attempt.token : 0)
})
