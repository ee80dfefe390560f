import { InvalidArgumentError, type Lease, LeaseLostError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/semaphore-fixture.ts'

describe('permits', () => {
  test('as many permits are granted as the limit allows, and a released one is granted again', async () => {
    const { semaphore } = await setup({ limit: 2 })
    const first = await semaphore.acquire()
    const second = await semaphore.acquire()
    expect(await semaphore.tryAcquire()).toBe(null)

    await first.release()
    const third = await semaphore.tryAcquire()

    expect(second.token).toBeGreaterThan(first.token)
    expect(third?.token).toBeGreaterThan(second.token)
  })

  test('a permit takes its weight of the limit', async () => {
    const { semaphore } = await setup({ limit: 5 })
    const heavy = await semaphore.acquire({ weight: 4 })
    expect(await semaphore.tryAcquire({ weight: 2 })).toBe(null)
    await semaphore.acquire({ weight: 1 })

    expect(await semaphore.inspect()).toMatchObject({ limit: 5, used: 5, waiting: 0 })
    await heavy.release()

    expect(await semaphore.inspect()).toMatchObject({ used: 1, permits: [{ weight: 1 }] })
  })

  test('an expired permit is granted again, and its old holder learns of it', async () => {
    const { semaphore, clock } = await setup({ limit: 1, lease: '10s' })
    const first = await semaphore.acquire()

    await clock.advance(10_001)
    const second = await semaphore.acquire()

    expect(second.token).toBeGreaterThan(first.token)
    await expect(first.release()).rejects.toThrow(LeaseLostError)
    expect(first.signal.aborted).toBe(true)
    expect(await semaphore.inspect()).toMatchObject({ used: 1, permits: [{ token: second.token }] })
  })

  test('an extended permit lasts from the extension on', async () => {
    const { semaphore, clock } = await setup({ limit: 1, lease: '10s' })
    const lease = await semaphore.acquire()
    await clock.advance(9_000)

    await lease.extend('20s')
    await clock.advance(19_000)

    expect(await semaphore.tryAcquire()).toBe(null)
    await clock.advance(1_000)
    expect(await semaphore.tryAcquire()).not.toBe(null)
  })

  test('another process can extend and release a permit by its token, until it has ended', async () => {
    const { semaphore, redis, name, clock } = await setup({ limit: 1, lease: '10s' })
    const { token, expiresAtMs } = await semaphore.acquire()
    const other = redis.semaphore(name, { limit: 1 })

    expect(await other.byToken.extend(token, '1m')).toEqual({
      leaseMs: 60_000,
      expiresAtMs: expiresAtMs + 50_000,
    })
    await other.byToken.release(token)

    await expect(other.byToken.release(token)).rejects.toThrow(LeaseLostError)
    await expect(other.byToken.extend(token, '1m')).rejects.toThrow(LeaseLostError)
    const next = await semaphore.acquire()
    await clock.advance(10_000)
    await expect(other.byToken.extend(next.token, '1m')).rejects.toThrow(LeaseLostError)
  })

  test('acquireDetached returns a token, or full and how long to wait', async () => {
    const { semaphore, clock } = await setup({ limit: 3, lease: '10s' })
    const detached = await semaphore.acquireDetached({ weight: 2 })
    await clock.advance(4000)

    expect(detached).toMatchObject({ status: 'granted', leaseMs: 10_000 })
    expect(await semaphore.acquireDetached({ weight: 2 })).toEqual({ status: 'full', retryAfterMs: 6000 })
    expect(await semaphore.inspect()).toMatchObject({ used: 2, waiting: 0 })
  })

  test('leaving the block releases the permit, and so does a failed task', async () => {
    const { semaphore } = await setup({ limit: 1 })
    {
      await using lease = await semaphore.acquire()
      lease.assertHeld()
    }
    await expect(semaphore.run(() => Promise.reject(new Error('broken')))).rejects.toThrow('broken')

    expect(await semaphore.run(({ token }) => token > 0)).toBe(true)
    expect(await semaphore.inspect()).toMatchObject({ used: 0 })
  })

  test('a stalled process knows that its permit has ended without asking the server', async () => {
    const { semaphore } = await setup({ limit: 1, lease: '50ms', clock: 'real' })
    const lease = await semaphore.acquire()

    const wakeAt = performance.now() + 60
    while (performance.now() < wakeAt);

    expect(() => lease.assertHeld()).toThrow(LeaseLostError)
    expect(lease.signal.aborted).toBe(true)
  })

  test('a held permit is extended automatically', async () => {
    const { semaphore } = await setup({ limit: 3, lease: '3s', clock: 'real' })
    const leases = await Promise.all([semaphore.acquire(), semaphore.acquire(), semaphore.acquire()])
    const first = leases.map(({ expiresAtMs }) => expiresAtMs)

    while (leases.some(({ expiresAtMs }, at) => expiresAtMs < (first[at] ?? 0) + 900)) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }

    expect(leases.map(({ signal }) => signal.aborted)).toEqual([false, false, false])
    await Promise.all(leases.map((lease) => lease.release()))
  })

  test('clear revokes granted permits', async () => {
    const { semaphore } = await setup({ limit: 1 })
    const lease = await semaphore.acquire()

    expect(await semaphore.clear()).toBe(true)

    await expect(lease.release()).rejects.toThrow(LeaseLostError)
    expect(await semaphore.clear()).toBe(false)
  })

  test('an idle semaphore expires by itself', async () => {
    const { semaphore, client, name, waiting } = await setup({ limit: 1, clock: 'real' })
    await semaphore.acquire()
    const waiter = semaphore.acquire({ wait: '20s', signal: AbortSignal.timeout(500) })
    await waiting(1)

    const keys = await client.keys(`*${name}*`)
    const lives = await Promise.all(keys.map((key) => client.pttl(key)))

    expect(keys.length).toBe(4)
    expect(lives.filter((ms) => ms <= 0)).toEqual([])
    await expect(waiter).rejects.toThrow()
  })
})

describe('arguments', () => {
  test('a weight above the limit is rejected at once, waiting or not', async () => {
    const { semaphore } = await setup({ limit: 3 })

    const error = await semaphore.acquire({ weight: 4, wait: '1h' }).catch((reason: unknown) => reason)

    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument: 'weight', message: expect.stringContaining('at most 3') })
    await expect(semaphore.tryAcquire({ weight: 4 })).rejects.toThrow(InvalidArgumentError)
  })

  test('invalid arguments are rejected by name', async () => {
    const { semaphore, redis } = await setup({ limit: 3 })

    await expect(semaphore.acquire({ weight: 0 })).rejects.toMatchObject({ argument: 'weight' })
    await expect(semaphore.acquire({ weight: 1.5 })).rejects.toMatchObject({ argument: 'weight' })
    await expect(semaphore.resize(0)).rejects.toMatchObject({ argument: 'limit' })
    await expect(semaphore.byToken.release(-1)).rejects.toMatchObject({ argument: 'token' })
    expect(() => redis.semaphore('x', { limit: 0 })).toThrow(InvalidArgumentError)
    expect(() => redis.semaphore('', { limit: 1 })).toThrow(InvalidArgumentError)
    // @ts-expect-error -- a limit is needed
    expect(() => redis.semaphore('x')).toThrow(InvalidArgumentError)
    // @ts-expect-error -- it does not wait
    await expect(semaphore.tryAcquire({ wait: '1s' })).rejects.toMatchObject({ argument: 'options.wait' })
  })
})

describe('the limit', () => {
  test('when handles disagree, the limit of the last call applies', async () => {
    const { semaphore, redis, name } = await setup({ limit: 1 })
    await semaphore.acquire()

    const wider = redis.semaphore(name, { limit: 2 })

    expect(await wider.tryAcquire()).not.toBe(null)
    expect(await semaphore.tryAcquire()).toBe(null)
    expect(await semaphore.inspect()).toMatchObject({ limit: 1, used: 2 })
  })

  test('once resized is the same for all handles, until the semaphore is cleared', async () => {
    const { semaphore, redis, name } = await setup({ limit: 1 })
    await semaphore.resize(3)

    const other = redis.semaphore(name, { limit: 7 })
    const leases = [await other.tryAcquire(), await semaphore.tryAcquire({ weight: 2 })]

    expect(leases).not.toContain(null)
    expect(await other.tryAcquire()).toBe(null)
    expect(await other.inspect()).toMatchObject({ limit: 3, resized: true, used: 3 })
    await semaphore.clear()
    expect(await other.inspect()).toMatchObject({ limit: 7, resized: false, used: 0 })
  })

  test('lowered below the granted weight revokes no permit, and nothing is granted until it fits', async () => {
    const { semaphore } = await setup({ limit: 3 })
    const leases = [await semaphore.acquire(), await semaphore.acquire(), await semaphore.acquire()]

    await semaphore.resize(1)

    for (const lease of leases) {
      lease.assertHeld()
      expect(await semaphore.tryAcquire()).toBe(null)
      await lease.release()
    }
    expect(await semaphore.tryAcquire()).not.toBe(null)
  })

  test('raised grants permits to waiters', async () => {
    const { semaphore, waiting } = await setup({ limit: 1 })
    await semaphore.acquire()
    const waiters = [1, 2, 3].map(() => semaphore.acquire({ wait: '20s' }))
    await waiting(3)

    await semaphore.resize(4)

    const leases: Lease[] = await Promise.all(waiters)
    expect(new Set(leases.map(({ token }) => token)).size).toBe(3)
  })

  test('lowered below the weight of a waiter rejects that waiter, and serves the next ones', async () => {
    const { semaphore, waiting } = await setup({ limit: 4 })
    const holder = await semaphore.acquire({ weight: 2 })
    const heavy = semaphore.acquire({ weight: 4, wait: '20s' })
    const refused = expect(heavy).rejects.toThrow(InvalidArgumentError)
    await waiting(1)
    const light = semaphore.acquire({ wait: '20s' })
    await waiting(2)

    await semaphore.resize(3)

    await refused
    expect((await light).token).toBeGreaterThan(holder.token)
    expect(await semaphore.inspect()).toMatchObject({ used: 3, waiting: 0 })
  })
})
