import { InvalidArgumentError, LeaseLostError, WaitTimeoutError } from 'perilune'
import { expect, test } from 'vitest'
import { gate, setup } from '../../test/once-fixture.ts'

test('a task runs once, and every caller gets its result', async () => {
  const { once } = await setup<number>({ clock: 'real' })
  let runs = 0
  const task = async (): Promise<number> => {
    runs += 1
    await new Promise((resolve) => setTimeout(resolve, 20))
    return 7
  }

  const results = await Promise.all(Array.from({ length: 50 }, () => once.run('a', task, { wait: '10s' })))

  expect(results).toEqual(Array.from({ length: 50 }, () => 7))
  expect(runs).toBe(1)
  expect(await once.run('a', task)).toBe(7)
  expect(runs).toBe(1)
})

test('a waiter is woken by the result', async () => {
  const { once } = await setup<string>()
  const { opened, open } = gate()
  const first = once.run('a', async () => {
    await opened
    return 'first'
  })
  const second = once.run('a', () => 'second', { wait: '1h' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  open()

  expect(await second).toBe('first')
  expect(await first).toBe('first')
})

test('a waiter takes over when the other task throws', async () => {
  const { once } = await setup<string>()
  const { opened, open } = gate()
  const first = once.run('a', async () => {
    await opened
    throw new Error('no')
  })
  const second = once.run('a', () => 'second', { wait: '1h' })
  await new Promise((resolve) => setTimeout(resolve, 50))
  open()

  await expect(first).rejects.toThrow('no')
  expect(await second).toBe('second')
})

test('without time to wait, a key with an attempt under way is a WaitTimeoutError', async () => {
  const { once } = await setup<string>()
  await once.begin('a')

  await expect(once.run('a', () => 'x')).rejects.toThrow(WaitTimeoutError)
  await expect(once.run('a', () => 'x', { wait: '30ms' })).rejects.toThrow(WaitTimeoutError)
})

test('waiting ends with the reason of the signal', async () => {
  const { once } = await setup<string>()
  await once.begin('a')
  const leaving = new AbortController()
  const waiting = once.run('a', () => 'x', { wait: '1h', signal: leaving.signal })

  leaving.abort(new Error('enough'))

  await expect(waiting).rejects.toThrow('enough')
})

test('another request with the same key is rejected, and its task does not run', async () => {
  const { once } = await setup<string>()
  await once.run('a', () => 'x', { fingerprint: 'f' })

  const error = await once
    .run('a', () => Promise.reject(new Error('it ran')), { fingerprint: 'g' })
    .catch((reason: unknown) => reason)

  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(error).toMatchObject({ argument: 'fingerprint' })
})

test('a task gets its token, and its signal aborts with that of the caller', async () => {
  const { once } = await setup<boolean>()
  const leaving = new AbortController()

  const seen = await once.run(
    'a',
    ({ signal, token }) => {
      expect(token).toBeGreaterThan(0)
      leaving.abort()
      return signal.aborted
    },
    { signal: leaving.signal },
  )

  expect(seen).toBe(true)
})

test('a task that takes longer than the lease keeps its key', async () => {
  const { once } = await setup<string>({ clock: 'real', lease: '1s' })
  const { opened, open } = gate()
  const first = once.run('a', async ({ signal }) => {
    await opened
    return signal.aborted ? 'lost' : 'first'
  })
  await expect.poll(async () => (await once.inspect('a')).state).toBe('running')
  const { token, expiresAtMs } = await once.inspect('a')

  const extended = async (): Promise<number> => (await once.inspect('a')).expiresAtMs ?? 0
  await expect.poll(extended, { timeout: 5000 }).toBeGreaterThan((expiresAtMs ?? 0) + 1000)
  open()

  expect(await first).toBe('first')
  expect(await once.get('a')).toMatchObject({ token, result: 'first' })
})

test('an attempt is not extended beyond maxHold', async () => {
  const { once } = await setup<string>({ clock: 'real', lease: '600ms', maxHold: '900ms' })

  const first = once.run('a', ({ signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const refused = expect(first).rejects.toThrow(LeaseLostError)

  expect(await once.run('a', () => 'second', { wait: '10s' })).toBe('second')
  await refused
})

test('the result of a run that was taken over is rejected', async () => {
  const { once, clock } = await setup<string>({ lease: '10s' })
  const { opened, open } = gate()
  const first = once.run('a', async () => {
    await opened
    return 'first'
  })
  while ((await once.inspect('a')).state !== 'running') await new Promise(setImmediate)
  await clock.advance(10_000)

  expect(await once.run('a', () => 'second')).toBe('second')
  open()

  await expect(first).rejects.toThrow(LeaseLostError)
  expect(await once.get('a')).toMatchObject({ result: 'second' })
})
