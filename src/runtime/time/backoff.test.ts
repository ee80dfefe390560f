import { expect, test } from 'vitest'
import { ExponentialBackoff } from './backoff.ts'

test('pauses double up to the longest, and are at least half as long as that', () => {
  const backoff = new ExponentialBackoff(100, 1000)
  const pauses = Array.from({ length: 2000 }, () => backoff.next())

  for (const [at, most] of [100, 200, 400, 800, 1000, 1000].entries()) {
    expect(pauses[at]).toBeGreaterThanOrEqual(most / 2)
    expect(pauses[at]).toBeLessThanOrEqual(most)
  }
  expect(pauses.at(-1)).toBeLessThanOrEqual(1000)
  expect(pauses.at(-1)).toBeGreaterThanOrEqual(500)
})

test('processes that failed together pause for different times', () => {
  const pauses = new Set(Array.from({ length: 100 }, () => new ExponentialBackoff(10_000, 10_000).next()))

  expect(pauses.size).toBeGreaterThan(1)
})

test('after a success the pauses start again', () => {
  const backoff = new ExponentialBackoff(100, 5000)
  for (let failures = 0; failures < 10; failures++) backoff.next()

  backoff.reset()

  expect(backoff.next()).toBeLessThanOrEqual(100)
})
