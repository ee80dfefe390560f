import { InvalidArgumentError, LeaseLostError, WaitTimeoutError } from 'perilune'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/lock-fixture.ts'
import { until } from '../../test/servers/ask.ts'
import { startRedis } from '../../test/servers/redis.ts'

const forever = { wait: '20s' } as const

test('a lock has one holder at a time, with rising tokens', async () => {
  const { lock } = await setup()

  const first = await lock.acquire()
  expect(await lock.tryAcquire()).toBeNull()
  await first.release()
  const second = await lock.acquire()

  expect(second.token).toBeGreaterThan(first.token)
  await second.release()
  expect(await lock.inspect()).toMatchObject({ mode: 'free', token: second.token, holders: [], waiting: 0 })
})

test('a caller that does not wait gets its answer at once', async () => {
  const { lock, calls } = await setup()
  await using _ = await lock.acquire()
  calls.length = 0

  await expect(lock.acquire()).rejects.toThrow(WaitTimeoutError)

  expect(calls).toEqual(['lock/acquire'])
})

test('waiters get the lock in order of arrival, with two or three calls each', async () => {
  const { lock, calls } = await setup({ clock: 'real' })
  const held = await lock.acquire()
  const order: number[] = []
  const waiters: Promise<void>[] = []
  for (let n = 0; n < 20; n++) {
    waiters.push(lock.run(() => void order.push(n), forever))
    await until(`${n + 1} stand in line`, async () => (await lock.inspect()).waiting === n + 1)
  }
  const count = (name: string): number => calls.filter((each) => each === name).length
  expect(count('lock/acquire')).toBe(21)
  calls.length = 0

  await held.release()
  await Promise.all(waiters)

  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n))
  expect(count('lock/release')).toBe(21)
  // A waiter that asked more than 250 ms ago is offered the lock, and asks once more.
  expect(count('lock/acquire')).toBeLessThanOrEqual(20)
  expect(calls).toHaveLength(21 + count('lock/acquire'))
})

test('an aborted waiter leaves the line, and the next one gets the lock', async () => {
  const { lock } = await setup({ clock: 'real' })
  const held = await lock.acquire()
  const leaving = new AbortController()
  const first = lock.acquire({ ...forever, signal: leaving.signal })
  await until('one stands in line', async () => (await lock.inspect()).waiting === 1)
  const second = lock.acquire(forever)
  await until('two stand in line', async () => (await lock.inspect()).waiting === 2)

  leaving.abort(new Error('not any more'))
  await expect(first).rejects.toThrow('not any more')
  await held.release()

  await (await second).release()
  expect(await lock.inspect()).toMatchObject({ mode: 'free', waiting: 0 })
})

test('a waiter that times out leaves the line', async () => {
  const { lock } = await setup()
  await using _ = await lock.acquire()

  await expect(lock.acquire({ wait: '30ms' })).rejects.toThrow(WaitTimeoutError)

  await until('the line is empty', async () => (await lock.inspect()).waiting === 0)
})

test('an attempt that reaches the server after its abort leaves no trace', async () => {
  const { lock, holdBack, calls } = await setup()
  const letGo = holdBack('lock/acquire')
  const leaving = new AbortController()
  const waiting = lock.acquire({ ...forever, signal: leaving.signal })
  await until('it was sent', async () => calls.includes('lock/acquire'))

  leaving.abort(new Error('not any more'))
  await expect(waiting).rejects.toThrow('not any more')
  letGo()

  await until('it was abandoned', async () => calls.includes('lock/abandon'))
  expect(await lock.inspect()).toMatchObject({ mode: 'free', waiting: 0 })
})

describe('a lock that may be barged', () => {
  test('goes to the first caller that asks, and waiters get it eventually', async () => {
    const { lock } = await setup({ clock: 'real', fair: false })
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setImmediate(resolve))
      inside--
    }

    await Promise.all(Array.from({ length: 50 }, () => lock.run(work, forever)))

    expect(most).toBe(1)
    expect(await lock.inspect()).toMatchObject({ mode: 'free', waiting: 0 })
  })
})

describe('readers', () => {
  test('hold a lock together, and exclude exclusive holders', async () => {
    const { lock } = await setup()

    const first = await lock.shared.acquire()
    const second = await lock.shared.acquire()
    expect(await lock.tryAcquire()).toBeNull()
    expect(await lock.inspect()).toMatchObject({ mode: 'shared', holders: [{}, {}] })
    await first.release()
    expect(await lock.tryAcquire()).toBeNull()
    await second.release()

    await (await lock.acquire()).release()
  })

  test('queue after a waiting writer, and acquire the lock together after it', async () => {
    const { lock } = await setup({ clock: 'real' })
    const events: string[] = []
    const reading = await lock.shared.acquire()
    const writer = lock.run(() => void events.push('writer'), forever)
    await until('the writer waits', async () => (await lock.inspect()).waiting === 1)
    let inside = 0
    let most = 0
    const read = async (): Promise<void> => {
      events.push('reader')
      most = Math.max(most, ++inside)
      await until('all readers are in', async () => most === 3)
      inside--
    }
    const readers = [1, 2, 3].map(() => lock.shared.run(read, forever))
    await until('the readers wait', async () => (await lock.inspect()).waiting === 4)

    await reading.release()
    await Promise.all([writer, ...readers])

    expect(events).toEqual(['writer', 'reader', 'reader', 'reader'])
  })

  test('acquire the lock when the waiting writer gives up', async () => {
    const { lock } = await setup({ clock: 'real' })
    await using _ = await lock.shared.acquire()
    const leaving = new AbortController()
    const writer = lock.acquire({ ...forever, signal: leaving.signal })
    await until('the writer waits', async () => (await lock.inspect()).waiting === 1)
    const reader = lock.shared.acquire(forever)
    await until('the reader waits', async () => (await lock.inspect()).waiting === 2)

    leaving.abort()
    await expect(writer).rejects.toThrow()

    await (await reader).release()
  })

  test('keep their leases while they are held', async () => {
    const { lock } = await setup({ clock: 'real', lease: '900ms' })
    const reading = await lock.shared.acquire()
    const { expiresAtMs } = reading

    await until('it was extended', async () => reading.expiresAtMs > expiresAtMs)

    reading.assertHeld()
    await reading.release()
  })
})

describe('a token', () => {
  test('extends and releases a lease that another process acquired', async () => {
    const { lock, name } = await setup()
    const other = await setup({ name })
    const { token, expiresAtMs } = await lock.acquire()

    expect(await other.lock.byToken.extend(token, '1h')).toEqual({
      leaseMs: 3_600_000,
      expiresAtMs: expiresAtMs - 30_000 + 3_600_000,
    })
    await other.lock.byToken.release(token)

    expect((await lock.inspect()).mode).toBe('free')
  })

  test('of a lease that has ended is rejected', async () => {
    const { lock, clock } = await setup({ lease: '1s' })
    const { token } = await lock.acquire()
    await clock.advance(1000)

    await expect(lock.byToken.extend(token, '1h')).rejects.toThrow(LeaseLostError)
    await expect(lock.byToken.release(token)).rejects.toThrow(LeaseLostError)
    expect((await lock.inspect()).mode).toBe('free')
  })
})

test('code called by a holder may use its lease', async () => {
  const { lock, redis } = await setup()
  const outer = await lock.acquire()

  const inner = await lock.run(async (lease) => lease.token, { held: outer })
  expect(inner).toBe(outer.token)
  outer.assertHeld()
  await expect(redis.lock('another').acquire({ held: outer })).rejects.toThrow(InvalidArgumentError)

  await outer.release()
  await expect(lock.acquire({ held: outer })).rejects.toThrow(LeaseLostError)
})

test("a reader's lease does not permit exclusive access", async () => {
  const { lock } = await setup()
  const [first, second] = [await lock.shared.acquire(), await lock.shared.acquire()]
  let ran = false

  const attempts = [first, second].map((held) => lock.run(() => void (ran = true), { held }))

  for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ argument: 'held' })
  expect(ran).toBe(false)
  expect(await lock.shared.run(({ token }) => token, { held: first })).toBe(first.token)
  const nested = await lock.shared.acquire({ held: first })
  await expect(lock.acquire({ held: nested })).rejects.toMatchObject({ argument: 'held' })
})

test('an exclusive holder may read under the same lease', async () => {
  const { lock } = await setup()
  const held = await lock.acquire()

  expect(await lock.shared.run(({ token }) => token, { held })).toBe(held.token)
})

test('a lease of the same name from another server is not valid for this lock', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { lock, name } = await setup({ clock: 'real' })
  const elsewhere = await setup({ clock: 'real', name, port: server.port })
  const held = await elsewhere.lock.acquire()
  await using _somebody = await lock.acquire()

  await expect(lock.acquire({ held })).rejects.toMatchObject({ argument: 'held' })
})

test('a lease of another instance on the same server is valid for this lock', async () => {
  const { lock, name } = await setup({ clock: 'real' })
  const other = await setup({ clock: 'real', name })
  const alone = await other.lock.acquire()
  expect(await lock.run(({ token }) => token, { held: alone })).toBe(alone.token)
  await alone.release()

  const reading = await other.lock.shared.acquire()
  expect(await lock.shared.run(({ token }) => token, { held: reading })).toBe(reading.token)
  await expect(lock.acquire({ held: reading })).rejects.toMatchObject({ argument: 'held' })
})

test('a nested lease that was released is no longer held', async () => {
  const { lock } = await setup()
  const outer = await lock.acquire()
  const nested = await lock.acquire({ held: outer })

  await nested.release()

  expect(() => nested.assertHeld()).toThrow(LeaseLostError)
  await expect(nested.extend()).rejects.toThrow(LeaseLostError)
  await expect(lock.acquire({ held: nested })).rejects.toThrow(LeaseLostError)
  outer.assertHeld()
})

test('clear takes a lock from its holder, and waiters acquire it', async () => {
  const { lock } = await setup({ clock: 'real' })
  const held = await lock.acquire()
  const waiting = lock.acquire(forever)
  await until('one waits', async () => (await lock.inspect()).waiting === 1)

  expect(await lock.clear()).toBe(true)

  const next = await waiting
  expect(next.token).toBeGreaterThan(held.token)
  await expect(held.extend()).rejects.toThrow(LeaseLostError)
  expect(held.signal.aborted).toBe(true)
  await next.release()
})

test.each([
  ['a name with a line break', () => setup({ name: 'a\nb', clock: 'real' }), 'name'],
  ['a lease without a unit', () => setup({ lease: '30' as '30s' }), 'lease'],
  ['a lease that is too short', () => setup({ lease: '9ms' }), 'lease'],
  ['a fairness that is not a flag', () => setup({ fair: 'lucky' as never }), 'fair'],
  ['a token that was never granted', async () => (await setup()).lock.byToken.release(0), 'token'],
  ['a token in pieces', async () => (await setup()).lock.byToken.extend(1.5, '1s'), 'token'],
] as const)('%s is refused by name', async (_what, act, argument) => {
  const error = await act().catch((reason: unknown) => reason)

  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(error).toMatchObject({ argument })
})
