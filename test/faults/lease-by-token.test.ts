// A release by token alone, when the first answer is lost and the call is sent again.

import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError, LeaseLostError, type Perilune } from 'perilune'
import { describe, expect, test } from 'vitest'
import { scene } from '../lease-fixture.ts'

interface Kind {
  acquire(redis: Perilune, name: string): Promise<{ readonly token: number } | { readonly status: string }>
  release(redis: Perilune, name: string, token: number): Promise<void>
  /** By another caller, which excludes the holder. */
  takeOver(redis: Perilune, name: string): Promise<unknown>
  /** The number of waiters in line. */
  waiting(redis: Perilune, name: string): Promise<number>
}

const KINDS: Readonly<Record<string, Kind>> = {
  'a lock': {
    acquire: (redis, name) => redis.lock(name).acquireDetached({ wait: '10s' }),
    release: (redis, name, token) => redis.lock(name).byToken.release(token),
    takeOver: (redis, name) => redis.lock(name).acquireDetached({ wait: '10s' }),
    waiting: async (redis, name) => (await redis.lock(name).inspect()).waiting,
  },
  "a reader's lease": {
    acquire: (redis, name) => redis.lock(name).shared.acquireDetached({ wait: '10s' }),
    release: (redis, name, token) => redis.lock(name).shared.byToken.release(token),
    takeOver: (redis, name) => redis.lock(name).acquireDetached({ wait: '10s' }),
    waiting: async (redis, name) => (await redis.lock(name).inspect()).waiting,
  },
  'a permit': {
    acquire: (redis, name) => redis.semaphore(name, { limit: 1 }).acquireDetached({ wait: '10s' }),
    release: (redis, name, token) => redis.semaphore(name, { limit: 1 }).byToken.release(token),
    takeOver: (redis, name) => redis.semaphore(name, { limit: 1 }).acquireDetached({ wait: '10s' }),
    waiting: async (redis, name) => (await redis.semaphore(name, { limit: 1 }).inspect()).waiting,
  },
  'an attempt of once': {
    acquire: (redis, name) => redis.once(name).beginDetached('key', { wait: '10s' }),
    release: (redis, name, token) => redis.once(name).byToken.release('key', token),
    takeOver: (redis, name) => redis.once(name).beginDetached('key', { wait: '10s' }),
    waiting: async () => 1, // there is no line: who waits is called, and tries again
  },
}

async function acquire(kind: Kind, redis: Perilune, name: string): Promise<number> {
  const acquired = await kind.acquire(redis, name)
  if ('token' in acquired) return acquired.token
  throw new Error(`it is ${acquired.status}`)
}

/** Resolves to how the release ended. */
function outcome(releasing: Promise<void>): Promise<unknown> {
  return releasing.then(
    () => 'released',
    (error: unknown) => error,
  )
}

describe.each(Object.entries(KINDS))('%s', (what, kind) => {
  test('without waiters is released, or its release is ambiguous', async () => {
    const { redis, other, name, loseNextAnswer } = await scene()
    const token = await acquire(kind, redis, name)

    loseNextAnswer()
    const ended = await outcome(kind.release(redis, name, token))

    const isKnown = what === 'a lock' || what === 'an attempt of once'
    expect(ended).toEqual(isKnown ? 'released' : expect.any(AmbiguousError))
    await acquire(kind, other, name)
  })

  test('with a waiter that has it by then is released, or its release is ambiguous', async () => {
    const { redis, other, name, loseNextAnswer } = await scene()
    const token = await acquire(kind, redis, name)
    const next = kind.takeOver(other, name)
    while ((await kind.waiting(other, name)) === 0) await sleep(5)

    loseNextAnswer()
    const ended = await outcome(kind.release(redis, name, token))

    expect(ended === 'released' || ended instanceof AmbiguousError).toBe(true)
    await next
  })

  test('that its holder releases twice is lost the second time, when another holder has it', async () => {
    const { redis, other, name } = await scene()
    const token = await acquire(kind, redis, name)
    await kind.release(redis, name, token)
    await acquire(kind, other, name)

    await expect(kind.release(redis, name, token)).rejects.toThrow(LeaseLostError)
  })
})
