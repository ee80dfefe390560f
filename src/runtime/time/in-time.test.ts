import { getEventListeners } from 'node:events'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Deadlines } from './deadlines.ts'
import { inTime, pause, rest, unlessAborted, within } from './in-time.ts'
import { Sleeper } from './sleeper.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000

function never(): Promise<never> {
  return new Promise(() => undefined)
}

const shared = new Deadlines()
const waits: [string, (signal: AbortSignal) => Promise<unknown>][] = [
  ['within', (signal) => within(never(), 60_000, signal)],
  ['unlessAborted', (signal) => unlessAborted(never(), signal)],
  ['pause', (signal) => pause(60_000, signal)],
  ['rest', (signal) => rest(60_000, shared, signal)],
]

describe.each(waits)('%s', (_, wait) => {
  test('rejects at once with the reason of a signal that aborted before', async () => {
    const reason = new Error('before')

    await expect(wait(AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  test('rejects with the reason when the signal aborts, and leaves no listener', async () => {
    const stop = new AbortController()
    const waiting = wait(stop.signal)
    const reason = new Error('meanwhile')

    stop.abort(reason)

    await expect(waiting).rejects.toBe(reason)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    // Their timer serves later entries.
    shared.giveUpAll(new Error('over'))
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('a promise that fails after the signal has aborted is no unhandled rejection', async () => {
  const stop = AbortSignal.abort(new Error('stopped'))

  const waiting = [
    unlessAborted(Promise.reject(new Error('late')), stop),
    within(Promise.reject(new Error('late')), 1, stop),
  ]

  // Vitest fails the run for an unhandled rejection.
  for (const each of waiting) await expect(each).rejects.toThrow('stopped')
})

test('a value that arrives after the abort is given back', async () => {
  const stop = new AbortController()
  const given: string[] = []
  let resolve: (value: string) => void = () => undefined
  const promise = new Promise<string>((resolved) => (resolve = resolved))
  const waiting = unlessAborted(promise, stop.signal, async (value) => void given.push(value))

  resolve('lease')
  stop.abort(new Error('stopped'))

  await expect(waiting).rejects.toThrow('stopped')
  expect(given).toEqual(['lease'])
})

test('a value that arrives in time goes to the caller and is not given back', async () => {
  const { signal } = new AbortController()

  const value = await unlessAborted(Promise.resolve('lease'), signal, async () => expect.fail('given back'))

  expect(value).toBe('lease')
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('within and pause support sixty days', async () => {
  const ended: string[] = []
  pause(60 * DAY_MS).then(
    () => ended.push('pause'),
    () => undefined,
  )
  within(never(), 60 * DAY_MS).catch(() => ended.push('within'))

  // In one step: a timer left by another test could otherwise run every second in between, five million times.
  vi.advanceTimersByTime(60 * DAY_MS - 1)
  await vi.advanceTimersByTimeAsync(0)
  expect(ended).toEqual([])
  vi.advanceTimersByTime(1)
  await vi.advanceTimersByTimeAsync(0)
  expect(ended).toEqual(['pause', 'within'])
})

describe('in time', () => {
  test('a promise that takes too long, or fails with a foreign error, is unreachable', async () => {
    const deadlines = new Deadlines()
    const late = inTime(never(), performance.now() + 1000, deadlines)
    const broken = inTime(Promise.reject(new Error('reset')), performance.now() + 1000, deadlines)
    for (const each of [late, broken]) each.catch(() => undefined)

    await vi.advanceTimersByTimeAsync(1002)

    await expect(late).rejects.toMatchObject({ code: 'unreachable' })
    await expect(broken).rejects.toMatchObject({ code: 'unreachable', cause: { message: 'reset' } })
  })

  test('when all entries are given up, it rejects with the reason, and so does a rest', async () => {
    const deadlines = new Deadlines()
    const waiting = [inTime(never(), performance.now() + 1000, deadlines), rest(1000, deadlines)]
    const reason = new Error('closed')

    deadlines.giveUpAll(reason)

    for (const each of waiting) await expect(each).rejects.toBe(reason)
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a sleeper', () => {
  test('does not sleep when the signal has aborted before', async () => {
    await new Sleeper().sleep(60_000, AbortSignal.abort())

    expect(vi.getTimerCount()).toBe(0)
  })

  test('wakes when the signal aborts, and leaves no listener', async () => {
    const stop = new AbortController()
    const sleeping = new Sleeper().sleep(60_000, stop.signal)

    stop.abort()
    await sleeping

    expect(vi.getTimerCount()).toBe(0)
    expect(getEventListeners(stop.signal, 'abort')).toEqual([])
  })
})
