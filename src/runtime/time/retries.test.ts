import { expect, test } from 'vitest'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { Retries } from './retries.ts'

const away = [
  new DriverError('unreachable', 'no server'),
  new DriverError('store-read-only', 'a replica'),
  new AmbiguousError('lock/acquire'),
]
const forbidden = new DriverError('forbidden', 'no')

test('a store that could not decide is asked again within a second, however long the outage', () => {
  const retries = new Retries(1000, 5000)

  const pauses = Array.from({ length: 2000 }, (_, n) => retries.after(away[n % away.length]))

  expect(Math.max(...pauses)).toBeLessThanOrEqual(1000)
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(500)
})

test('a rejected call is retried at growing intervals', () => {
  const retries = new Retries(1000, 5000)

  const pauses = Array.from({ length: 10 }, () => retries.after(forbidden))

  expect(pauses[0]).toBeLessThanOrEqual(1000)
  expect(pauses.at(-1)).toBeGreaterThanOrEqual(2500)
})

test('after a success the pauses start again', () => {
  const retries = new Retries(100, 5000)
  for (const error of [...away, forbidden, forbidden]) retries.after(error)
  expect(retries.failures).toBe(5)

  retries.reset()

  expect(retries.failures).toBe(0)
  expect(retries.after(forbidden)).toBeLessThanOrEqual(100)
  expect(retries.after(away[0])).toBeLessThanOrEqual(100)
})
