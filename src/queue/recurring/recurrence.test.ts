import { expect, test } from 'vitest'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { nextTimes, type Recurrence, toRecurrence } from './recurrence.ts'

/** The problem with options, preceded by the name of the argument. */
function refusalOf(options: unknown): string {
  try {
    toRecurrence(options as Recurrence)
  } catch (error) {
    if (error instanceof InvalidArgumentError) return `${error.argument}: ${error.message}`
    throw error
  }
  return 'none'
}

test('an interval becomes milliseconds, with one missed run made up for', () => {
  expect(toRecurrence({ every: '15m', offset: '5m' })).toEqual({
    kind: 'interval',
    everyMs: 900_000,
    offsetMs: 300_000,
    missed: 1,
  })
})

test('an expression gets single spaces, in UTC unless another zone is given', () => {
  expect(toRecurrence({ cron: ' 0  9 * * MON-FRI ' })).toEqual({
    kind: 'cron',
    cron: '0 9 * * MON-FRI',
    timeZone: 'UTC',
    missed: 1,
  })
  expect(toRecurrence({ cron: '@daily', timeZone: 'Europe/Berlin' })).toMatchObject({
    timeZone: 'Europe/Berlin',
  })
})

test.each([
  ['skip', 0],
  ['one', 1],
  [{ upTo: 12 }, 12],
] as const)('missed: %j makes up for %d runs', (missed, runs) => {
  expect(toRecurrence({ every: '1h', missed })).toMatchObject({ missed: runs })
  expect(toRecurrence({ cron: '@hourly', missed })).toMatchObject({ missed: runs })
})

test.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '* * * 30 FEB *', '0 0 31W 2 *'])(
  '%s would never run and is refused',
  (cron) => {
    expect(refusalOf({ cron })).toBe(`cron: cron must have a day that exists: '${cron}' would never run`)
  },
)

test.each(['0 0 29 2 *', '0 0 29 2 +MON#5', '0 0 30 2 1', '59 59 23 31 12 +SUN'])(
  '%s is rare but runs',
  (cron) => {
    expect(refusalOf({ cron })).toBe('none')
  },
)

test.each([
  '60 * * * *',
  '* 24 * * *',
  '0 0 0 * *',
  '0 0 * 13 *',
  '0 0 * * 8',
  '*/0 * * * *',
  '10-5 * * * *',
  '1,,2 * * * *',
  '0 0 * JANUARY *',
  '0 0 * * 5#6',
  '0 0 * *',
  '* * * * * * *',
  '@reboot',
  '@every 5m',
  '2026-05-01T00:00:00',
  '2026-05-01 00:00:00 1 1 1',
  'tomorrow',
])('%s is no expression, and the refusal says what is one', (cron) => {
  expect(refusalOf({ cron })).toContain(
    "cron: cron must be five fields (minute hour day month weekday) such as '0 9",
  )
  expect(refusalOf({ cron })).toContain(`not '${cron}'`)
})

test.each([42, null, undefined, '', {}, new Date(0), '0 0 * *\n*', '* '.repeat(200)])(
  '%j is no expression',
  (cron) => {
    expect(refusalOf({ cron })).toMatch(/^cron: /)
  },
)

test.each(['Europe/Nowhere', '', '+01:00', 'UTC+1', ' UTC', 1, null])('%j is no time zone', (timeZone) => {
  expect(refusalOf({ cron: '@daily', timeZone })).toMatch(
    /^timeZone: timeZone must be an IANA time zone such as 'Europe\/Berlin', not /,
  )
})

test.each([
  [{ every: '15' }, 'every: every must be a duration'],
  [{ every: '1ms' }, 'every: every must be between 1s and 366d'],
  [{ every: '15m', offset: '15m' }, 'offset: offset must be shorter than every'],
  [{ every: '15m', offset: 'x' }, 'offset: offset must be a duration'],
  [{ every: '15m', cron: '@daily' }, 'recurrence: recurrence must have either every or cron'],
  [{}, 'recurrence: recurrence must have either every or cron'],
  [null, 'recurrence: recurrence must be an object'],
  [{ every: '15m', timeZone: 'UTC' }, 'recurrence.timeZone: recurrence.timeZone is not known'],
  [{ cron: '@daily', offset: '1m' }, 'recurrence.offset: recurrence.offset is not known'],
  [{ cron: '@daily', timezone: 'UTC' }, 'recurrence.timezone: recurrence.timezone is not known'],
  [{ every: '15m', missed: 'all' }, "missed: missed must be 'skip', 'one' or { upTo }"],
  [{ every: '15m', missed: null }, "missed: missed must be 'skip', 'one' or { upTo }"],
  [{ every: '15m', missed: { upTo: 0 } }, 'missed.upTo: missed.upTo must be a whole number from 1 to 1000'],
])('%j is refused', (options, refusal) => {
  expect(refusalOf(options)).toContain(refusal)
})

test('an interval is counted from 1970, and begins with its offset', () => {
  const rule = toRecurrence({ every: '15m', offset: '5m' })

  expect(nextTimes(rule, 0, 2)).toEqual([300_000, 1_200_000])
  expect(nextTimes(rule, 299_999, 1)).toEqual([300_000])
  expect(nextTimes(rule, 300_000, 1)).toEqual([1_200_000])
})

test('the next times continue where the last ones ended', () => {
  const rule = toRecurrence({ cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
  const all = nextTimes(rule, Date.UTC(2026, 2, 25), 300)

  expect(all).toHaveLength(300)
  expect(nextTimes(rule, all[99] ?? 0, 200)).toEqual(all.slice(100))
})

test('invalid counts and instants are rejected', () => {
  const rule = toRecurrence({ cron: '@daily' })

  for (const afterMs of [-1, 0.5, Number.NaN, 8.64e15]) {
    expect(() => nextTimes(rule, afterMs, 1)).toThrow('afterMs must be')
  }
  for (const count of [0, 1001, 1.5]) expect(() => nextTimes(rule, 0, count)).toThrow('count must be')
})

test('an unknown time zone is named in the error', () => {
  const rule = { kind: 'cron', cron: '* * * * *', timeZone: 'Mars/Olympus', missed: 1 } as const

  expect(() => nextTimes(rule, 0, 1)).toThrow(
    "timeZone must be an IANA time zone such as 'Europe/Berlin', not 'Mars/",
  )
})
