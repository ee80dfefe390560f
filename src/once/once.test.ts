import { InvalidArgumentError, LeaseLostError } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/once-fixture.ts'
import type { Attempt, Begun } from './once.ts'

function attemptOf<Result>(begun: Begun<Result>): Attempt<Result> {
  if (begun.status !== 'started') throw new Error(`it was ${begun.status}`)
  return begun.attempt
}

test('the result of a key is replayed to every later begin', async () => {
  const { once } = await setup<{ paid: boolean }>()
  const attempt = attemptOf(await once.begin('a', { fingerprint: 'f' }))

  const { keptUntilMs } = await attempt.complete({ paid: true })

  const { token } = attempt
  expect(await once.begin('a', { fingerprint: 'f' })).toEqual({
    status: 'replayed',
    result: { paid: true },
    token,
  })
  expect(await once.get('a')).toEqual({ result: { paid: true }, token, keptUntilMs })
  expect(await once.begin('a', { fingerprint: 'g' })).toEqual({ status: 'conflict' })
})

test('another begin learns how long the attempt under way may still take', async () => {
  const { once, clock } = await setup({ lease: '10s' })
  await once.begin('a')
  await clock.advance(4000)

  expect(await once.begin('a')).toEqual({ status: 'running', retryAfterMs: 6000 })
  expect((await once.begin('b')).status).toBe('started')
})

test('a begin repeated with its id gets the same attempt', async () => {
  const { once } = await setup()
  const first = attemptOf(await once.begin('a', { id: 'mine' }))

  const again = attemptOf(await once.begin('a', { id: 'mine' }))

  expect(again.token).toBe(first.token)
  expect((await once.begin('a', { id: 'yours' })).status).toBe('running')
})

test('the id of a released attempt is rejected', async () => {
  const { once } = await setup()
  await attemptOf(await once.begin('a', { id: 'mine' })).release()

  await expect(once.begin('a', { id: 'mine' })).rejects.toThrow(LeaseLostError)

  expect((await once.begin('a')).status).toBe('started')
})

test('a lapsed attempt is taken over, and its late result is rejected', async () => {
  const { once, clock } = await setup<string>({ lease: '10s' })
  const first = attemptOf(await once.begin('a'))
  await clock.advance(10_000)

  const second = attemptOf(await once.begin('a'))

  expect(second.token).toBeGreaterThan(first.token)
  await expect(first.complete('late')).rejects.toThrow(LeaseLostError)
  await second.complete('in time')
  expect(await once.get('a')).toMatchObject({ result: 'in time', token: second.token })
})

test('the result of a lapsed attempt is accepted until another attempt begins', async () => {
  const { once, clock } = await setup<string>({ lease: '10s' })
  const attempt = attemptOf(await once.begin('a'))
  await clock.advance(10_000)

  await attempt.complete('late')

  expect(await once.get('a')).toMatchObject({ result: 'late' })
})

test('completing twice changes nothing', async () => {
  const { once } = await setup<string>()
  const attempt = attemptOf(await once.begin('a'))

  const first = await attempt.complete('one')
  const second = await attempt.complete('two')

  expect(second).toEqual(first)
  expect(await once.byToken.complete('a', attempt.token, 'three')).toEqual(first)
  expect(await once.get('a')).toMatchObject({ result: 'one' })
})

test('leaving the block releases an attempt that was not completed', async () => {
  const { once } = await setup<string>()
  {
    await using first = attemptOf(await once.begin('a'))
    expect(first.remainingMs).toBeGreaterThan(0)
  }
  {
    await using second = attemptOf(await once.begin('a'))
    await second.complete('done')
  }

  expect(await once.begin('a')).toMatchObject({ status: 'replayed', result: 'done' })
})

test('leaving the block of an attempt that was taken over throws', async () => {
  const { once, clock } = await setup({ lease: '10s' })
  const attempt = attemptOf(await once.begin('a'))
  await clock.advance(10_000)
  await once.begin('a')

  await expect(attempt[Symbol.asyncDispose]()).rejects.toThrow(LeaseLostError)
})

test('an attempt can be extended, and a lost one cannot', async () => {
  const { once, clock } = await setup({ lease: '10s' })
  const attempt = attemptOf(await once.begin('a'))
  await clock.advance(9000)
  await attempt.extend('20s')
  await clock.advance(19_999)
  expect((await once.inspect('a')).state).toBe('running')
  attempt.assertHeld()

  await clock.advance(1)

  await expect(attempt.extend()).rejects.toThrow(LeaseLostError)
  expect(attempt.signal.aborted).toBe(true)
  expect(() => attempt.assertHeld()).toThrow(LeaseLostError)
})

test('key and token are enough to extend, complete and release', async () => {
  const { once } = await setup<string>({ lease: '10s' })
  const { token, expiresAtMs } = attemptOf(await once.begin('a'))

  expect(await once.byToken.extend('a', token, '30s')).toEqual({
    leaseMs: 30_000,
    expiresAtMs: expiresAtMs + 20_000,
  })
  await once.byToken.release('a', token)
  await once.byToken.release('a', token)
  await expect(once.byToken.extend('a', token, '30s')).rejects.toThrow(LeaseLostError)
  await expect(once.byToken.complete('a', token, 'x')).rejects.toThrow(LeaseLostError)
  await expect(once.byToken.release('a', token + 1)).rejects.toThrow(LeaseLostError)
})

test('inspect and clear return what is known of a key', async () => {
  const { once } = await setup<string>()
  expect(await once.inspect('a')).toEqual({
    state: 'free',
    token: null,
    fingerprint: null,
    expiresAtMs: null,
    keptUntilMs: null,
    bytes: 0,
    codec: null,
  })
  const { token } = attemptOf(await once.begin('a', { fingerprint: 'f' }))
  await once.byToken.complete('a', token, 'paid')

  expect(await once.inspect('a')).toMatchObject({ state: 'finished', token, fingerprint: 'f', bytes: 6 })
  expect(await once.clear('a')).toBe(true)
  expect(await once.clear('a')).toBe(false)
  expect(await once.get('a')).toBeNull()
})

test('a task without a result, and results that JSON cannot hold', async () => {
  const { once } = await setup()

  expect(await once.run('a', () => undefined)).toBeUndefined()
  expect(await once.get('a')).toMatchObject({ result: undefined })

  await expect(once.run('b', () => () => 1)).rejects.toThrow('result must be a value that JSON can hold')
  expect((await once.inspect('b')).state).toBe('finished')
})

test('a result of four mebibytes is stored, and a larger one is rejected', async () => {
  const { once } = await setup()
  // JSON adds two quotes.
  const largest = 'x'.repeat(4 * 1024 * 1024 - 2)

  expect(await once.run('a', () => largest)).toBe(largest)
  expect(await once.get('a')).toMatchObject({ result: largest })

  await expect(once.run('b', () => `${largest}x`)).rejects.toThrow('result must be at most 4194304 bytes')
})

test('wrong arguments are rejected before anything is sent', async () => {
  const { once, redis } = await setup()
  const wrong: [Promise<unknown>, string][] = [
    [once.begin(''), 'key'],
    [once.begin('a', { fingerprint: 'x'.repeat(513) }), 'fingerprint'],
    [once.begin('a', { id: '' }), 'id'],
    [once.byToken.complete('a', 0, 1), 'token'],
    [once.byToken.complete('a', 1, 'x'.repeat(5_000_000)), 'result'],
    [once.byToken.extend('a', 1, '0s'), 'lease'],
    [once.run('a', () => 1, { wait: '2h' }), 'wait'],
  ]
  for (const [promise, argument] of wrong) {
    const error = await promise.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(InvalidArgumentError)
    expect(error).toMatchObject({ argument })
  }
  expect(() => redis.once('x', { resultTtl: '0ms' })).toThrow('resultTtl')
  expect(() => redis.once('x', JSON.parse('{"ttl":"1s"}'))).toThrow('options.ttl is not known')
})
