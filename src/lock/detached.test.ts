import { LeaseLostError } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/lock-fixture.ts'
import { until } from '../../test/servers/ask.ts'

test('acquireDetached returns a token, or the longest time that the lock is held', async () => {
  const { lock, clock } = await setup({ lease: '10s' })
  const granted = await lock.acquireDetached()
  await clock.advance(4000)

  expect(granted).toMatchObject({ status: 'granted', leaseMs: 10_000 })
  expect(await lock.acquireDetached()).toEqual({ status: 'held', retryAfterMs: 6000 })
  expect((await lock.inspect()).waiting).toBe(0)
})

test('a waiter for a detached lease gets its full lease, not only the confirmation time', async () => {
  const { lock } = await setup({ clock: 'real', lease: '1h' })
  const held = await lock.acquire()
  const acquiring = lock.acquireDetached({ wait: '20s' })
  await until('one caller waits', async () => (await lock.inspect()).waiting === 1)
  await held.release()

  const granted = await acquiring
  if (granted.status !== 'granted') throw new Error('not granted')
  const { token, expiresAtMs } = granted
  expect((await lock.inspect()).holders).toMatchObject([{ token, expiresAtMs }])
  expect(expiresAtMs).toBeGreaterThan(held.expiresAtMs)
})

test('a caller that stops waiting for a detached lease leaves no ticket in line', async () => {
  const { lock } = await setup({ clock: 'real' })
  await using _ = await lock.acquire()
  const leaving = new AbortController()
  const acquiring = lock.acquireDetached({ wait: '20s', signal: leaving.signal })
  await until('one caller waits', async () => (await lock.inspect()).waiting === 1)

  leaving.abort(new Error('gone'))
  await expect(acquiring).rejects.toThrow('gone')
  await until('no caller waits', async () => (await lock.inspect()).waiting === 0)
})

test('this process does not extend a detached lease', async () => {
  const { lock, calls } = await setup({ clock: 'real', lease: '60ms' })
  await lock.acquireDetached()
  await until('the lease has ended', async () => (await lock.inspect()).mode === 'free')
  expect(calls).not.toContain('lock/extend')
})

test('a token extends and releases a shared lease, but not through the exclusive handle', async () => {
  const { lock, clock } = await setup({ lease: '10s' })
  const [first, second] = [await lock.shared.acquireDetached(), await lock.shared.acquireDetached()]
  if (first.status !== 'granted' || second.status !== 'granted') throw new Error('not granted')

  expect(await lock.shared.byToken.extend(first.token, '1m')).toEqual({
    leaseMs: 60_000,
    expiresAtMs: first.expiresAtMs + 50_000,
  })
  await expect(lock.byToken.release(first.token)).rejects.toThrow(LeaseLostError)
  await clock.advance(10_001)
  await expect(lock.shared.byToken.release(second.token)).rejects.toThrow(LeaseLostError)
  expect((await lock.inspect()).holders.map(({ token }) => token)).toEqual([first.token])
  await lock.shared.byToken.release(first.token)
  expect((await lock.inspect()).mode).toBe('free')
})
