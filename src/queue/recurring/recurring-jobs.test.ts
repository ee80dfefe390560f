import { expect, test } from 'vitest'
import { setup, until } from '../../../test/queue-fixture.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { START_US } from '../../testing/test-clock.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { Queue } from '../queue.ts'
import type { RecurringOptions } from './recurring-jobs.ts'

const START_MS = START_US / 1000
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

type Payloads = { mail: { to: string }; image: { url: string } }
const mail = { name: 'mail', payload: { to: 'ada' } } as const

/** Claims due runs and acks their jobs. Returns the times of the runs, counted from the start. */
async function runsOf(queue: Queue<Payloads>): Promise<number[]> {
  const jobs = await queue.claim({ limit: 200 })
  await Promise.all(jobs.map((job) => job.ack()))
  return jobs.map(timeOf)
}

function timeOf({ id }: ClaimedJob): number {
  return Number(id.split('@')[1]) - START_MS
}

test('a recurring job is spawned at each of its times, with its options', async () => {
  const { queue, clock } = await setup()
  const options = {
    priority: 3,
    maxAttempts: 7,
    maxRun: '1m',
    group: 'ada',
    tags: ['a'],
    trace: 't',
  } as const
  await queue.recurring.set('digest', { ...mail, ...options, every: '1h', offset: '10m' })
  expect(await queue.claim()).toEqual([])

  await clock.advance(HOUR)
  const [job] = await queue.claim()

  const at = START_MS + 10 * MINUTE
  expect(job).toMatchObject({ id: `digest@${at}`, name: 'mail', payload: { to: 'ada' }, attempt: 1 })
  expect(await queue.jobs.get(`digest@${at}`)).toMatchObject({
    priority: 3,
    maxAttempts: 7,
    group: 'ada',
    tags: ['a'],
    trace: 't',
  })
  expect(await queue.claim()).toEqual([])
  expect((await queue.settings.inspect()).enqueued).toBe(1)
})

test('an interval does not drift even if its runs are claimed late', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('tick', { ...mail, every: '10s' })
  const runs: number[] = []
  for (const ms of [10_001, 13_000, 9000, 7999, 12_345]) {
    await clock.advance(ms)
    runs.push(...(await runsOf(queue)))
  }

  expect(runs).toEqual([10, 20, 30, 40, 50].map((seconds) => seconds * SECOND))
})

test('setting the same definition again changes nothing, and another one applies from now on', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('tick', { ...mail, every: '10s' })
  await clock.advance(12_000)
  const before = await queue.recurring.get('tick')

  expect(await queue.recurring.set('tick', { ...mail, every: '10s' })).toEqual({
    nextAtMs: START_MS + 10_000,
  })
  expect(await queue.recurring.get('tick')).toEqual(before)
  await queue.recurring.set('tick', { ...mail, payload: { to: 'bob' }, every: '10s' })
  const jobs = await queue.claim({ limit: 5 })

  expect(jobs.map((job) => [timeOf(job), job.payload])).toEqual([[10_000, { to: 'bob' }]])
  await queue.recurring.set('tick', { ...mail, every: '7s' })
  const next = await queue.recurring.get('tick')
  expect(next?.nextAtMs).toBeGreaterThan(START_MS + 12_000)
  expect(next).toMatchObject({ runs: 1, lastJobId: `tick@${START_MS + 10_000}` })
})

test.each([
  ['skip', [60]],
  ['one', [60]],
  [{ upTo: 3 }, [40, 50, 60]],
] as const)('of the runs that were missed %j are made up for', async (missed, seconds) => {
  const { queue, clock } = await setup()
  await queue.recurring.set('by interval', { ...mail, every: '10s', missed })
  await clock.advance(69_000)
  expect(await runsOf(queue)).toEqual(seconds.map((each) => each * SECOND))

  await queue.clear()
  await queue.recurring.set('by cron', { ...mail, cron: '*/10 * * * * *', missed })
  await clock.advance(MINUTE)
  expect(await runsOf(queue)).toEqual(seconds.map((each) => MINUTE + each * SECOND))
})

test.each([
  ['skip', MINUTE, 1],
  ['skip', MINUTE + 1, 0],
  ['one', 5 * HOUR, 1],
] as const)('a single run with missed %s, late by %d ms, has %d jobs', async (missed, lateMs, count) => {
  const { queue, clock } = await setup()
  await queue.recurring.set('daily', { ...mail, cron: '0 3 * * *', missed })
  const { nextAtMs } = (await queue.recurring.get('daily')) ?? {}

  await clock.advance((nextAtMs ?? 0) - START_MS + lateMs)

  expect(await runsOf(queue)).toHaveLength(count)
})

test('a thousand missed runs are made up for in steps', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('often', { ...mail, every: '1s', missed: { upTo: 1000 } })
  await clock.advance(2 * HOUR)

  const runs: number[] = []
  for (let found = await runsOf(queue); found.length > 0; found = await runsOf(queue)) {
    expect(found.length).toBeLessThanOrEqual(100)
    runs.push(...found)
  }

  expect(runs).toEqual(Array.from({ length: 1000 }, (_, at) => 2 * HOUR - (999 - at) * SECOND))
})

test('a removed recurring job spawns no more jobs; those that it spawned stay', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('tick', { ...mail, every: '10s' })
  await clock.advance(10_000)
  const [job] = await queue.claim()

  expect(await queue.recurring.remove('tick')).toBe(true)
  expect(await queue.recurring.remove('tick')).toBe(false)
  await clock.advance(HOUR)

  expect(await queue.claim({ limit: 9 })).toHaveLength(1)
  expect((await queue.jobs.get(job?.id ?? ''))?.attempts).toBe(2)
  expect(await queue.recurring.get('tick')).toBe(null)
})

test('a bounded recurring job ends after its limit or at its end, and stays listed', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('thrice', { ...mail, every: '1m', limit: 3 })
  await queue.recurring.set('till', { ...mail, cron: '* * * * *', until: START_MS + 2 * MINUTE })
  const runs: string[] = []
  for (let minute = 0; minute < 6; minute += 1) {
    await clock.advance(MINUTE)
    runs.push(...(await queue.claim({ limit: 9, lease: '1h' })).map(({ id }) => id.split('@')[0] ?? ''))
  }

  expect(runs.toSorted()).toEqual(['thrice', 'thrice', 'thrice', 'till', 'till'])
  await queue.recurring.set('thrice', { ...mail, every: '1m', limit: 3 })
  const { recurring } = await queue.recurring.list()
  expect(recurring.map(({ id, nextAtMs, runs: count }) => [id, nextAtMs, count])).toEqual([
    ['thrice', null, 3],
    ['till', null, 2],
  ])
  await queue.recurring.set('thrice', { ...mail, every: '1m', limit: 4 })
  expect((await queue.recurring.get('thrice'))?.nextAtMs).toBe(START_MS + 7 * MINUTE)
})

test('a paused queue spawns nothing, and makes up for missed runs when it is resumed', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('tick', { ...mail, every: '10s' })
  await queue.settings.pause()
  for (let at = 0; at < 20; at += 1) {
    await clock.advance(10_000)
    expect(await queue.claim()).toEqual([])
  }
  expect((await queue.settings.inspect()).ready).toBe(0)

  await queue.settings.resume()
  expect(await runsOf(queue)).toEqual([200_000])
})

test('while a unique key is taken a run spawns no job', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('long', { ...mail, every: '10s', unique: 'long' })
  await clock.advance(10_000)
  const [job] = await queue.claim({ lease: '1h' })
  await clock.advance(10_000)
  expect(await queue.claim()).toEqual([])

  await job?.ack()
  await clock.advance(10_000)
  expect(await runsOf(queue)).toEqual([30_000])
})

test('any claim refills the list of times, and no run is lost or doubled', async () => {
  const { queue, clock, calls } = await setup()
  await queue.recurring.set('minutely', { ...mail, cron: '* * * * *' })
  const runs: number[] = []
  for (let minute = 1; minute <= 120; minute += 1) {
    await clock.advance(MINUTE)
    runs.push(...(await runsOf(queue)))
    await until(async () => (await queue.recurring.get('minutely'))?.nextAtMs !== null)
  }

  expect(runs).toEqual(Array.from({ length: 120 }, (_, at) => (at + 1) * MINUTE))
  expect(calls.filter((name) => name === 'queue/refill').length).toBeLessThan(8)
})

test('an empty list of times spawns nothing until it is refilled; then missed runs are handled as usual', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('minutely', { ...mail, cron: '* * * * *', missed: { upTo: 2 } })
  await clock.advance(30 * DAY)

  const first = await runsOf(queue)
  expect(first).toEqual([])
  let runs: number[] = []
  await until(async () => (runs = await runsOf(queue)).length > 0)

  expect(runs).toEqual([-1, 0].map((minutes) => 30 * DAY + minutes * MINUTE))
  expect(await runsOf(queue)).toEqual([])
  await clock.advance(MINUTE)
  expect(await runsOf(queue)).toEqual([30 * DAY + MINUTE])
})

test('a daily cron job runs once on every day of a year, also when the clocks change', async () => {
  const { queue, clock } = await setup()
  await queue.recurring.set('daily', { ...mail, cron: '30 2 * * *', timeZone: 'Europe/Berlin' })
  const days: string[] = []
  for (let at = 0; at < 366 * 3; at += 1) {
    await clock.advance(8 * HOUR)
    for (const ms of await runsOf(queue)) {
      days.push(new Date(START_MS + ms).toLocaleString('sv', { timeZone: 'Europe/Berlin' }))
    }
  }

  expect(days.map((day) => day.slice(0, 10))).toEqual(
    Array.from({ length: 366 }, (_, at) => new Date(START_MS + (at + 1) * DAY).toISOString().slice(0, 10)),
  )
  expect(days.filter((day) => !day.endsWith('02:30:00'))).toEqual(['2027-03-28 03:00:00'])
})

test('recurring jobs are listed by their next run', async () => {
  const { queue } = await setup()
  await queue.recurring.set('b', { ...mail, every: '1h', limit: 5, missed: 'skip' })
  await queue.recurring.set('a', { name: 'image', payload: { url: '/' }, cron: '* * * * *', unique: 'key' })

  const page = await queue.recurring.list({ limit: 1 })

  expect(page).toEqual({
    recurring: [
      {
        id: 'a',
        name: 'image',
        payload: { url: '/' },
        rule: { kind: 'cron', cron: '* * * * *', timeZone: 'UTC', missed: 1 },
        nextAtMs: START_MS + MINUTE,
        lastAtMs: null,
        lastJobId: null,
        runs: 0,
        limit: null,
        untilMs: null,
        priority: 0,
        maxAttempts: 3,
        maxRunMs: 0,
        group: '',
        unique: 'key',
        tags: [],
        trace: '',
        undecodable: [],
      },
    ],
    next: '1',
  })
  const rest = await queue.recurring.list({ after: page.next ?? '' })
  expect(rest.recurring).toMatchObject([
    { id: 'b', rule: { kind: 'interval', everyMs: HOUR, offsetMs: 0, missed: 0 }, limit: 5 },
  ])
  expect(rest.next).toBe(null)
})

test.each([
  ['id', '', {}],
  ['recurrence', 'x', { every: undefined }],
  ['every', 'x', { every: '1ms' }],
  ['cron', 'x', { every: undefined, cron: 'never' }],
  ['missed', 'x', { missed: 'all' }],
  ['limit', 'x', { limit: 0 }],
  ['until', 'x', { until: new Date(Number.NaN) }],
  ['name', 'x', { name: '' }],
  ['priority', 'x', { priority: 0.5 }],
  ['options.delay', 'x', { delay: '1s' }],
  ['unique.replace', 'x', { unique: { key: 'a', replace: true } }],
])('an argument that is wrong is named: %s', async (argument, id, wrong) => {
  const { queue } = await setup()
  const options = { ...mail, every: '1m', ...wrong } as unknown as RecurringOptions<Payloads, 'mail'>

  const set = queue.recurring.set(id, options)

  await expect(set).rejects.toThrow(InvalidArgumentError)
  await expect(set).rejects.toMatchObject({ argument })
})
