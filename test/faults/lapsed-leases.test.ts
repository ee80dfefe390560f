// Leases that are over by the clock of their process while the server's clock, after a step back, still has them as held.

import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { setup } from '../lock-fixture.ts'
import { setup as setupSemaphore } from '../semaphore-fixture.ts'

const BRIEF = { lease: '300ms', maxHold: '0s' } as const
const LONG_MS = 400

test.each(['a lock', "a reader's lease"])(
  '%s that lapsed is given back, although the clock of the server does not reach its end',
  async (what) => {
    const { lock } = await setup(BRIEF)
    const lease = await (what === 'a lock' ? lock.acquire() : lock.shared.acquire())
    await sleep(LONG_MS)

    expect(lease.remainingMs).toBe(0)
    await expect.poll(async () => (await lock.tryAcquire()) !== null).toBe(true)
  },
)

test('a permit that lapsed is given back, although the clock of the server does not reach its end', async () => {
  const { semaphore } = await setupSemaphore({ limit: 1, ...BRIEF })
  const permit = await semaphore.acquire()
  await sleep(LONG_MS)

  expect(permit.remainingMs).toBe(0)
  await expect.poll(async () => (await semaphore.tryAcquire()) !== null).toBe(true)
})

test('a set of locks that lapsed is given back, although the clock of the server does not reach its end', async () => {
  const { redis, name } = await setup()
  const set = redis.locks([`${name}:a`, `${name}:b`], BRIEF)
  await set.acquire()
  await sleep(LONG_MS)

  await expect.poll(async () => (await set.tryAcquire()) !== null).toBe(true)
})
