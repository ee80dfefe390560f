import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startTimer } from './timer.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 86_400_000

test('a timer of sixty days runs once, after sixty days', () => {
  const task = vi.fn()
  startTimer(task, 60 * DAY_MS)

  vi.advanceTimersByTime(60 * DAY_MS - 1)
  expect(task).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(task).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})

test('a long timer that is cancelled during its second part does not run', () => {
  const task = vi.fn()
  const timer = startTimer(task, 60 * DAY_MS)

  vi.advanceTimersByTime(30 * DAY_MS)
  timer.cancel()
  vi.advanceTimersByTime(60 * DAY_MS)
  expect(task).not.toHaveBeenCalled()
})
