import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Ears, Hearing, longestSleepMs } from './ear.ts'

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a waiter sleeps long with a line, a second with a lost one, and half a second without one', () => {
  const hearing = new Hearing()
  const slept = [longestSleepMs(hearing, RECHECKS), longestSleepMs(null, RECHECKS)]
  hearing.lose()
  slept.push(longestSleepMs(hearing, RECHECKS))
  vi.advanceTimersByTime(1000)
  slept.push(longestSleepMs(hearing, RECHECKS))
  // A failed attempt is no new loss.
  hearing.lose()
  slept.push(longestSleepMs(hearing, RECHECKS))
  hearing.hear()
  slept.push(longestSleepMs(hearing, RECHECKS))

  expect(slept).toEqual([10_000, 500, 1000, 500, 500, 10_000])
})

test('sleepers are notified once when a line is not restored, and never of a short loss', () => {
  const onGone = vi.fn()
  const hearing = new Hearing(onGone)
  hearing.lose()
  vi.advanceTimersByTime(500)
  hearing.hear()
  vi.advanceTimersByTime(5000)
  expect(onGone).not.toHaveBeenCalled()

  hearing.lose()
  vi.advanceTimersByTime(5000)
  expect(onGone).toHaveBeenCalledTimes(1)
  hearing.lose()
  hearing.close()
  vi.advanceTimersByTime(5000)
  expect(onGone).toHaveBeenCalledTimes(1)
})

test('of several lines a lost or gone one determines the state', () => {
  const [one, other] = [new Hearing(), new Hearing()]
  const both = new Ears([one, other])
  expect([both.isHeard, both.isGone]).toEqual([true, false])
  one.lose()
  expect([both.isHeard, both.isGone]).toEqual([false, false])
  vi.advanceTimersByTime(1000)
  expect([both.isHeard, both.isGone]).toEqual([false, true])
  one.hear()
  expect([both.isHeard, both.isGone]).toEqual([true, false])
})
