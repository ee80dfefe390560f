import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Ears, Hearing, longestSleepMs } from './ear.ts'

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('who is heard sleeps long, who has lost its line a second, and who has none, or none any more, half a second', () => {
  const hearing = new Hearing()
  const slept = [longestSleepMs(hearing, RECHECKS), longestSleepMs(null, RECHECKS)]
  hearing.lose()
  slept.push(longestSleepMs(hearing, RECHECKS))
  vi.advanceTimersByTime(1000)
  slept.push(longestSleepMs(hearing, RECHECKS))
  // Trying in vain is no new loss.
  hearing.lose()
  slept.push(longestSleepMs(hearing, RECHECKS))
  hearing.hear()
  slept.push(longestSleepMs(hearing, RECHECKS))

  expect(slept).toEqual([10_000, 500, 1000, 500, 500, 10_000])
})

test('those who sleep are told once when a line does not come back, and of a short loss nothing', () => {
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

test('of several ears one that is lost, or gone, counts', () => {
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
