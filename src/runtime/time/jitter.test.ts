import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Jitter } from './jitter.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('calls that fail together get one factor, and later ones another', () => {
  const jitter = new Jitter()
  const together = [jitter.factor, jitter.factor]
  vi.advanceTimersByTime(19)
  together.push(jitter.factor)
  expect(new Set(together).size).toBe(1)

  const later = Array.from({ length: 20 }, () => {
    vi.advanceTimersByTime(21)
    return jitter.factor
  })
  expect(new Set(later).size).toBeGreaterThan(1)
  for (const factor of later) {
    expect(factor).toBeGreaterThanOrEqual(0.5)
    expect(factor).toBeLessThan(1.5)
  }
})
