import { expect, test } from 'vitest'
import { type Duration, toMs } from './duration.ts'
import { InvalidArgumentError } from '../errors/errors.ts'

test.each([
  ['1ms', 1],
  ['30s', 30_000],
  ['1.5s', 1500],
  ['5m', 300_000],
  ['2h', 7_200_000],
  ['14d', 1_209_600_000],
] as [Duration, number][])('%s is %d milliseconds', (duration, ms) => {
  expect(toMs('wait', duration)).toBe(ms)
})

test.each([
  '30',
  '5sec',
  '-1s',
  '',
  's',
  '1e3s',
  ' 1s',
  500,
  null,
  undefined,
  {},
  ['30s'],
  Object.create(null),
])('%j is not a duration', (wrong) => {
  expect(() => toMs('wait', wrong as Duration)).toThrow(InvalidArgumentError)
  expect(() => toMs('wait', wrong as Duration)).toThrow('wait')
})

test('bounds are included', () => {
  const bounds = { min: '1s', max: '1m' } as const

  expect(toMs('lease', '1s', bounds)).toBe(1000)
  expect(toMs('lease', '1m', bounds)).toBe(60_000)
  expect(() => toMs('lease', '999ms', bounds)).toThrow('between 1s and 1m')
  expect(() => toMs('lease', '61s', bounds)).toThrow('between 1s and 1m')
})
