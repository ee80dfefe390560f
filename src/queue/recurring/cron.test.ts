import fc from 'fast-check'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Field, type Fields, scan, wallAt } from '../../../test/cron-scan.ts'
import { cronTimes } from './cron.ts'

const DAY = 86_400_000
const ownZone = process.env['TZ']

afterEach(() => {
  if (ownZone === undefined) delete process.env['TZ']
  else process.env['TZ'] = ownZone
})

/** The runs in a day from `from` on, in UTC. */
function runsOf(cron: string, timeZone: string, from: string, ms = DAY): string[] {
  const start = Date.parse(`${from}Z`)
  return cronTimes(cron, timeZone, start - 1, 120)
    .filter((time) => time < start + ms)
    .map((time) => new Date(time).toISOString().slice(5, 16))
}

// The clocks are set forward. `from`: midnight before it, or half a day earlier where it is at midnight.
describe.each([
  { zone: 'Europe/Berlin', from: '2026-03-28T23:00', daily: '30 2 * * *', runs: ['03-29T01:00'] },
  { zone: 'America/New_York', from: '2026-03-08T05:00', daily: '15 2 * * *', runs: ['03-08T07:00'] },
  { zone: 'Australia/Lord_Howe', from: '2026-10-03T13:30', daily: '15 2 * * *', runs: ['10-03T15:30'] },
  { zone: 'Africa/Cairo', from: '2025-04-24T12:00', daily: '30 0 * * *', runs: ['04-24T22:00'] },
  { zone: 'America/Sao_Paulo', from: '2018-11-03T15:00', daily: '0 0 * * *', runs: ['11-04T03:00'] },
  { zone: 'America/Nuuk', from: '2026-03-28T12:00', daily: '30 23 * * *', runs: ['03-29T01:00'] },
  { zone: 'Antarctica/Troll', from: '2026-03-28T12:00', daily: '30 1 * * *', runs: ['03-29T01:00'] },
  { zone: 'Pacific/Apia', from: '2011-12-30T10:00', daily: '0 9 30 12 *', runs: ['12-30T10:00'] },
])('where the clocks of $zone are set forward', ({ zone, from, daily, runs }) => {
  test('a wall time in a gap runs once, when the gap ends', () => {
    expect(runsOf(daily, zone, from)).toEqual(runs)
  })
})

// The clocks are set back.
describe.each([
  { zone: 'Europe/Berlin', from: '2026-10-24T22:00', daily: '30 2 * * *', runs: ['10-25T00:30'] },
  { zone: 'America/New_York', from: '2026-11-01T04:00', daily: '30 1 * * *', runs: ['11-01T05:30'] },
  { zone: 'Australia/Lord_Howe', from: '2026-04-04T13:00', daily: '45 1 * * *', runs: ['04-04T14:45'] },
  { zone: 'Africa/Cairo', from: '2025-10-30T12:00', daily: '30 23 * * *', runs: ['10-30T20:30'] },
  { zone: 'America/Sao_Paulo', from: '2018-02-17T14:00', daily: '15 23 * * *', runs: ['02-18T01:15'] },
  { zone: 'America/Havana', from: '2026-11-01T00:00', daily: '0 0 * * *', runs: ['11-01T04:00'] },
  { zone: 'Antarctica/Troll', from: '2026-10-24T22:00', daily: '30 2 * * *', runs: ['10-25T00:30'] },
])('where the clocks of $zone are set back', ({ zone, from, daily, runs }) => {
  test('a wall time that occurs twice runs once, the first time', () => {
    expect(runsOf(daily, zone, from)).toEqual(runs)
  })
})

describe('on the day', () => {
  const forward = ['Europe/Berlin', '2026-03-28T23:00', 23] as const
  const back = ['Europe/Berlin', '2026-10-24T22:00', 25] as const

  test.each([forward, back])(
    'an hourly job in %s from %s on runs in each of its %d hours',
    (zone, from, hours) => {
      expect(runsOf('@hourly', zone, from, hours * 3_600_000)).toHaveLength(hours)
      expect(runsOf('*/15 * * * *', zone, from, hours * 3_600_000)).toHaveLength(hours * 4)
    },
  )

  test.each([forward, back])(
    'a list of hours in %s from %s on runs each of them once',
    (zone, from, hours) => {
      const day = hours * 3_600_000
      expect(runsOf('30 0-23 * * *', zone, from, day)).toHaveLength(24)
    },
  )

  test('all wall times in a gap share one run, also with one that is due when it ends', () => {
    expect(runsOf('0,15,30 2,3 * * *', 'Europe/Berlin', '2026-03-28T23:00')).toEqual([
      '03-29T01:00',
      '03-29T01:15',
      '03-29T01:30',
    ])
  })

  test('steps skip the gap and run in both passes of a repeated hour', () => {
    expect(runsOf('*/30 2 * * *', ...forward)).toEqual([])
    expect(runsOf('*/30 2 * * *', 'Europe/Berlin', '2026-10-24T22:00')).toEqual([
      '10-25T00:00',
      '10-25T00:30',
      '10-25T01:00',
      '10-25T01:30',
    ])
    expect(runsOf('*/15 1 * * *', 'Australia/Lord_Howe', '2026-04-04T13:00')).toHaveLength(6)
  })

  test('a weekly job on the day of the switch runs', () => {
    expect(runsOf('30 2 * * SUN', 'America/New_York', '2026-03-08T05:00', 8 * DAY)).toEqual([
      '03-08T07:00',
      '03-15T06:30',
    ])
  })
})

test.each([
  ['0 0 L * *', ['01-31', '02-28', '03-31']],
  ['0 0 * * 5L', ['01-30', '02-27', '03-27']],
  ['0 0 * * mon#2', ['01-12', '02-09', '03-09']],
  ['0 0 15W * *', ['01-15', '02-16', '03-16']],
  ['0 0 13 * +FRI', ['02-13', '03-13', '11-13']],
  ['0 0 31 * *', ['01-31', '03-31', '05-31']],
  ['0 0 1-7/3 JAN-FEB *', ['01-01', '01-04', '01-07']],
  ['0 0 2 1 7', ['01-02', '01-04', '01-11']],
  ['@weekly', ['01-04', '01-11', '01-18']],
  ['@monthly', ['01-01', '02-01', '03-01']],
])('%s', (cron, days) => {
  const times = cronTimes(cron, 'UTC', Date.UTC(2026, 0, 1) - 1, 3)
  expect(times.map((time) => new Date(time).toISOString())).toEqual(
    days.map((day) => `2026-${day}T00:00:00.000Z`),
  )
})

test('six fields begin with seconds', () => {
  expect(cronTimes('*/20 0 0 1 1 *', 'UTC', Date.UTC(2026, 0, 1), 3)).toEqual([
    Date.UTC(2026, 0, 1, 0, 0, 20),
    Date.UTC(2026, 0, 1, 0, 0, 40),
    Date.UTC(2027, 0, 1),
  ])
})

test('a run is strictly after the instant, even by a millisecond', () => {
  const midnight = Date.UTC(2026, 0, 2)
  for (const cron of ['@daily', '*/5 0 * * *']) {
    expect(cronTimes(cron, 'UTC', midnight - 1, 1)).toEqual([midnight])
    expect(cronTimes(cron, 'UTC', midnight, 1)).not.toEqual([midnight])
  }
})

test.each(['UTC', 'Australia/Lord_Howe', 'America/New_York'])(
  'the zone of the process, %s, has no say',
  (zone) => {
    process.env['TZ'] = zone

    expect(runsOf('30 2 * * *', 'UTC', '2026-03-08T00:00', 2 * DAY)).toEqual(['03-08T02:30', '03-09T02:30'])
    expect(runsOf('0 * * * *', 'UTC', '2026-10-03T00:00')).toHaveLength(24)
    expect(runsOf('30 2 * * *', 'Europe/Berlin', '2026-03-28T23:00')).toEqual(['03-29T01:00'])
  },
)

// Everywhere the clocks are set, 2025 to 2027: the middle of the two days within which it happens.
const switches = Intl.supportedValuesOf('timeZone').flatMap((timeZone) => switchesOf(timeZone))

function switchesOf(timeZone: string): { timeZone: string; about: number }[] {
  const days = Array.from({ length: 548 }, (_, index) => Date.UTC(2025, 0, 1) + index * 2 * DAY)
  const offsets = days.map((day) => wallAt(timeZone, day) - day)
  const before = days.filter((_, index) => index + 1 < days.length && offsets[index] !== offsets[index + 1])
  return before.map((day) => ({ timeZone, about: day + DAY }))
}

/** Values that matter at switches come up often. */
function field(min: number, max: number, often: number[]): fc.Arbitrary<Field> {
  const value = fc.oneof(fc.constantFrom(...often), fc.integer({ min, max }))
  const range = fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const step = fc.integer({ min: 1, max: Math.min(max, 20) })
  return fc.oneof(
    fc.constant({ text: '*', matches: () => true }),
    step.map((by) => ({ text: `*/${by}`, matches: (n: number) => (n - min) % by === 0 })),
    fc.array(value, { minLength: 1, maxLength: 3 }).map((all) => ({
      text: all.join(','),
      matches: (n: number) => all.includes(n),
    })),
    range.map(([from, to]) => ({ text: `${from}-${to}`, matches: (n: number) => n >= from && n <= to })),
    fc.tuple(range, step).map(([[from, to], by]) => ({
      text: `${from}-${to}/${by}`,
      matches: (n: number) => n >= from && n <= to && (n - from) % by === 0,
    })),
  )
}

const fields: fc.Arbitrary<Fields> = fc.tuple(
  field(0, 59, [0, 15, 30, 45, 59]),
  field(0, 23, [0, 1, 2, 3, 23]),
  field(1, 31, [1, 28, 29, 30, 31]),
  field(1, 12, [3, 4, 10, 11]),
  field(0, 6, [0, 6]),
)

test('around every clock change, the runs are those found by checking every minute', () => {
  const start = fc.integer({ min: -DAY, max: DAY })
  fc.assert(
    fc.property(fc.constantFrom(...switches), fields, start, ({ timeZone, about }, cron, shift) => {
      const expected = scan(cron, timeZone, about + shift, about + 2 * DAY)
      const text = cron.map((each) => each.text).join(' ')
      const found = cronTimes(text, timeZone, about + shift, expected.length + 1)
      const next = found[expected.length] ?? Infinity

      expect(found.slice(0, expected.length)).toEqual(expected)
      expect(next).toBeGreaterThan(about + 2 * DAY)
    }),
    { numRuns: 150 },
  )
})

test.each([
  ['* * * * *', 'Europe/Berlin'],
  ['0 9 * * MON-FRI', 'America/New_York'],
  ['*/15 8-17 * * *', 'UTC'],
])('%s in %s asks for the time zone no more for a second recurring job than for one', (cron, timeZone) => {
  const start = Date.UTC(2026, 10, 10, 4, 5)
  const first = cronTimes(cron, timeZone, start, 50)
  // The calls of `Intl` by this library and by croner.
  const asked = [
    vi.spyOn(Intl.DateTimeFormat.prototype, 'formatToParts'),
    vi.spyOn(Date.prototype, 'toLocaleString'),
  ]
  onTestFinished(() => asked.forEach((each) => each.mockRestore()))

  expect(cronTimes(cron, timeZone, start + 1, 50)).toEqual(first)
  expect(asked.map((each) => each.mock.calls.length)).toEqual([0, 0])
})
