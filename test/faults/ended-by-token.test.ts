// A lease that its own process ends or extends by its token: its holder in that process learns of it at once.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Driver, Duration, Extended, Lease, Perilune } from 'perilune'
import { AmbiguousError, LeaseLostError, perilune } from 'perilune'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ConnectionLostError } from '../../src/driver.ts'
import { instance } from '../instance.ts'

interface Kind {
  take(redis: Perilune, name: string): Promise<Lease | null>
  release(redis: Perilune, name: string, token: number): Promise<unknown>
  extend(redis: Perilune, name: string, token: number, lease: Duration): Promise<Extended>
}

const TERMS = { lease: '10m', maxHold: '0s' } as const

const KINDS: Record<string, Kind> = {
  lock: {
    take: (redis, name) => redis.lock(name, TERMS).tryAcquire(),
    release: (redis, name, token) => redis.lock(name).byToken.release(token),
    extend: (redis, name, token, lease) => redis.lock(name).byToken.extend(token, lease),
  },
  'lock of a reader': {
    take: (redis, name) => redis.lock(name, TERMS).shared.tryAcquire(),
    release: (redis, name, token) => redis.lock(name).shared.byToken.release(token),
    extend: (redis, name, token, lease) => redis.lock(name).shared.byToken.extend(token, lease),
  },
  permit: {
    take: (redis, name) => redis.semaphore(name, { limit: 1, ...TERMS }).tryAcquire(),
    release: (redis, name, token) => redis.semaphore(name, { limit: 1 }).byToken.release(token),
    extend: (redis, name, token, lease) => redis.semaphore(name, { limit: 1 }).byToken.extend(token, lease),
  },
  'attempt that is released': {
    take: attempt,
    release: (redis, name, token) => redis.once(name).byToken.release('a', token),
    extend: (redis, name, token, lease) => redis.once(name).byToken.extend('a', token, lease),
  },
  'attempt that is completed': {
    take: attempt,
    release: (redis, name, token) => redis.once(name).byToken.complete('a', token, 'done'),
    extend: (redis, name, token, lease) => redis.once(name).byToken.extend('a', token, lease),
  },
}

async function attempt(redis: Perilune, name: string): Promise<Lease | null> {
  const begun = await redis.once(name, TERMS).begin('a')
  return begun.status === 'started' ? begun.attempt : null
}

/** Clears once before the first call that acquires something is sent, although that was asked for earlier. */
function overtaking(driver: Driver, clear: () => Promise<unknown>): void {
  const run = driver.run.bind(driver)
  let clearing: Promise<unknown> | null = null
  driver.run = async (call) => {
    if (/(acquire|begin)/.test(call.script.name)) await (clearing ??= clear())
    return run(call)
  }
}

/** A call without an answer: it may have happened. */
function losing(driver: Driver, isLost: (script: string) => boolean): void {
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    const reply = await run(call)
    if (!isLost(call.script.name)) return reply
    throw new ConnectionLostError('the answer was lost', true)
  }
}

test.each(Object.entries(KINDS))(
  'a %s is asked for when the call that ends it has no answer',
  async (_, kind) => {
    const { driver, name } = instance()
    const redis = perilune(driver, { namespace: 'instance-test', deadline: '500ms' })
    onTestFinished(() => redis.close())
    const lease = await kind.take(redis, name)
    losing(driver, (script) => /\/(?:release|release-shared|complete)$/.test(script))

    await expect(kind.release(redis, name, lease?.token ?? 0)).rejects.toBeInstanceOf(AmbiguousError)

    await expect.poll(() => lease?.remainingMs).toBe(0)
  },
)

test.each(['lock', 'semaphore'] as const)('a %s is asked for when its clear has no answer', async (kind) => {
  const { driver, name } = instance()
  const redis = perilune(driver, { namespace: 'instance-test', deadline: '500ms' })
  onTestFinished(() => redis.close())
  const unit = kind === 'lock' ? redis.lock(name, TERMS) : redis.semaphore(name, { limit: 1, ...TERMS })
  const lease = await unit.tryAcquire()
  losing(driver, (script) => script.endsWith('/clear'))

  await expect(unit.clear()).rejects.toBeInstanceOf(AmbiguousError)

  await expect.poll(() => lease?.remainingMs).toBe(0)
})

test.each(['lock', 'semaphore'] as const)(
  'a %s that is acquired while its clear is sent again is asked for',
  async (kind) => {
    const { redis, driver, name } = instance()
    const unit = kind === 'lock' ? redis.lock(name, TERMS) : redis.semaphore(name, { limit: 1, ...TERMS })
    await unit.clear()
    const run = driver.run.bind(driver)
    let lease: Lease | null = null
    driver.run = async (call) => {
      if (!call.script.name.endsWith('/clear') || lease !== null) return run(call)
      // As where the server does not know the script yet.
      lease = await unit.tryAcquire()
      throw new ConnectionLostError('the connection was lost', false)
    }

    await unit.clear()

    expect(lease).not.toBeNull()
    await expect.poll(() => lease?.remainingMs).toBe(0)
  },
)

type Clear = (redis: Perilune, name: string) => Promise<boolean>

const CLEARS: readonly [string, Clear][] = [
  ['lock', (redis, name) => redis.lock(name).clear()],
  ['lock of a reader', (redis, name) => redis.lock(name).clear()],
  ['permit', (redis, name) => redis.semaphore(name, { limit: 1 }).clear()],
  ['attempt that is released', (redis, name) => redis.once(name).clear('a')],
]

test.each(CLEARS)(
  'a %s is held that was asked for before a clear, and granted after it',
  async (kind, clear) => {
    const { redis, driver, name } = instance()
    const { take } = KINDS[kind] as Kind
    overtaking(driver, () => clear(redis, name))

    const lease = (await take(redis, name)) as Lease

    lease.assertHeld()
    expect(lease.signal.aborted).toBe(false)
    const exclusive = kind === 'lock of a reader' ? 'lock' : kind
    expect(await KINDS[exclusive]?.take(instance().redis, name)).toBeNull()
  },
)

describe.each(Object.entries(KINDS))('of a %s', (_what, { take, release, extend }) => {
  test('the holder learns that it is lost', async () => {
    const { redis, name } = instance()
    const lease = (await take(redis, name)) as Lease

    await release(redis, name, lease.token)

    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    expect(lease.remainingMs).toBe(0)
    expect(lease.signal.aborted).toBe(true)
  })

  test('a shorter end is the end that the holder assumes', async () => {
    const { redis, name } = instance()
    const lease = (await take(redis, name)) as Lease
    const other = instance()

    const { expiresAtMs } = await extend(redis, name, lease.token, '60ms')

    expect(lease.remainingMs).toBeLessThanOrEqual(60)
    expect(lease.expiresAtMs).toBe(expiresAtMs)
    await sleep(100)
    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    expect(await take(other.redis, name)).not.toBeNull()
  })

  test('a longer end is assumed, too', async () => {
    const { redis, name } = instance()
    const lease = (await take(redis, name)) as Lease

    await extend(redis, name, lease.token, '20m')

    expect(lease.remainingMs).toBeGreaterThan(19 * 60_000)
  })

  test('the lease of another token is held as before', async () => {
    const { redis, name } = instance()
    const lease = (await take(redis, name)) as Lease

    await expect(release(redis, name, lease.token + 1)).rejects.toThrow(LeaseLostError)

    lease.assertHeld()
  })
})

test('a token that is passed to the wrong side of a lock ends nothing', async () => {
  const { redis, name } = instance()
  const lease = (await redis.lock(name).shared.tryAcquire()) as Lease

  await expect(redis.lock(name).byToken.release(lease.token)).rejects.toThrow(LeaseLostError)

  lease.assertHeld()
})
