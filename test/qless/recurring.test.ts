import { describe, expect, test } from 'vitest'
import { begin, DAY, HOUR, MINUTE, type Place, refusalOf, SECOND, START_MS, verbsOf } from './fixture.ts'

const mail = { name: 'mail', payload: { to: 'ada' } } as const

/** The times of the runs that are claimed now, relative to the start. */
async function runs({ popIds }: Pick<Place, 'popIds'>): Promise<number[]> {
  return (await popIds(200)).map((id) => Number(id.split('@')[1]) - START_MS)
}

describe('TestRecurring', () => {
  test.each([
    ['id', '', {}],
    ['every', 'a', { every: 'often' }],
    ['every', 'a', { every: '1ms' }],
    ['offset', 'a', { offset: '1m' }],
    ['offset', 'a', { offset: -1 }],
    ['recurrence', 'a', { cron: '* * * * *' }],
    ['missed', 'a', { missed: 'all' }],
    ['missed.upTo', 'a', { missed: { upTo: 0 } }],
    ['name', 'a', { name: '' }],
    ['priority', 'a', { priority: 'high' }],
    ['maxAttempts', 'a', { maxAttempts: -1 }],
    ['tags', 'a', { tags: 'urgent' }],
    ['options.backlog', 'a', { backlog: 1 }],
  ])('test_malformed: a recurring job names the wrong argument: %s of %j %j', async (argument, id, wrong) => {
    const { queue } = await begin()

    expect(await refusalOf(queue.recurring.set(id, { ...mail, every: '1m', ...wrong } as never))).toBe(
      argument,
    )

    expect((await queue.recurring.list()).recurring).toEqual([])
  })

  test('test_basic: a job is spawned for each interval, and is a job like any other', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', { ...mail, every: '1m' })
    await place.clock.advance(MINUTE - 1)
    expect(await place.pop()).toEqual([])
    await place.clock.advance(1)

    const [job] = await place.pop({ limit: 10 })
    expect(job).toMatchObject({ id: `a@${START_MS + MINUTE}`, payload: { to: 'ada' }, attempt: 1 })
    await job?.ack()
    await place.clock.advance(MINUTE)

    expect(await runs(place)).toEqual([2 * MINUTE])
  })

  test('test_offset: runs may be shifted by a part of the interval', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', { ...mail, every: '1m', offset: '10s' })
    await place.clock.advance(10 * SECOND - 1)
    expect(await runs(place)).toEqual([])

    await place.clock.advance(1)

    expect(await runs(place)).toEqual([10 * SECOND])
  })

  test.each([
    ['test_tags', { tags: ['some', 'tags'] }],
    ['test_priority', { priority: 9 }],
    ['test_retries', { maxAttempts: 2 }],
  ] as const)(
    '%s: a setting of a recurring job applies to each job that it spawns: %j',
    async (_, options) => {
      const { queue, pop, clock } = await begin()
      await queue.recurring.set('a', { ...mail, every: '1m', ...options })
      await clock.advance(MINUTE)

      const [job] = await pop()

      expect(job).toMatchObject(options)
      expect(await queue.jobs.get(job?.id ?? '')).toMatchObject(options)
    },
  )

  test('test_backlog: a limited number of missed runs is made up for, the latest ones', async () => {
    const place = await begin()
    await place.queue.recurring.set('two', { ...mail, every: '1m', missed: { upTo: 2 } })
    await place.queue.recurring.set('one', { ...mail, every: '1m' })
    await place.clock.advance(10 * MINUTE)

    const ids = await place.popIds(200)

    expect(ids.toSorted()).toEqual(
      [`one@${START_MS + 10 * MINUTE}`, ...[9, 10].map((at) => `two@${START_MS + at * MINUTE}`)].toSorted(),
    )
  })

  test('test_get: all settings of a recurring job can be read', async () => {
    const { queue } = await begin()
    const options = { priority: 1, maxAttempts: 7, tags: ['some', 'tags'] } as const
    await queue.recurring.set('a', { ...mail, every: '1m', offset: '5s', missed: { upTo: 3 }, ...options })

    expect(await queue.recurring.get('a')).toMatchObject({
      ...mail,
      ...options,
      id: 'a',
      rule: { kind: 'interval', everyMs: MINUTE, offsetMs: 5 * SECOND, missed: 3 },
      runs: 0,
      lastAtMs: null,
    })
    expect(await queue.recurring.get('b')).toBeNull()
  })

  test.each([
    ['test_update_priority', { priority: 10 }, { priority: 10 }],
    ['test_update_retries', { maxAttempts: 10 }, { maxAttempts: 10 }],
    ['test_update_data', { payload: { to: 'bob' } }, { payload: { to: 'bob' } }],
    ['test_update_klass', { name: 'image' }, { name: 'image' }],
    ['test_tag', { tags: ['added'] }, { tags: ['added'] }],
    ['test_untag', { tags: [] }, { tags: [] }],
    ['test_rerecur_attributes', { priority: 3, tags: [], maxAttempts: 4 }, { priority: 3, maxAttempts: 4 }],
  ] as const)(
    '%s: set again with %j it keeps its times, and later jobs have the new value',
    async (_, changes, expected) => {
      const { queue, pop, clock } = await begin()
      const before = { ...mail, every: '1m', tags: ['first'] } as const
      await queue.recurring.set('a', before)

      await queue.recurring.set('a', { ...before, ...changes })
      await clock.advance(MINUTE)

      const [job] = await pop()
      expect(job).toMatchObject({ id: `a@${START_MS + MINUTE}`, ...expected })
    },
  )

  test('test_update_interval: with another interval its runs begin after now', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', { ...mail, every: '1h' })
    await place.clock.advance(10 * MINUTE)

    await place.queue.recurring.set('a', { ...mail, every: '1m' })
    expect(await runs(place)).toEqual([])
    await place.clock.advance(MINUTE)

    expect(await runs(place)).toEqual([11 * MINUTE])
  })

  test('test_update_queue: to move it, it is set in the other queue and removed here', async () => {
    const place = await begin()
    const other = await place.another()
    await place.queue.recurring.set('a', { ...mail, every: '1m' })

    await other.recurring.set('a', { ...mail, every: '1m' })
    await place.queue.recurring.remove('a')
    await place.clock.advance(MINUTE)

    expect([await runs(place), await runs(verbsOf(other))]).toEqual([[], [MINUTE]])
  })

  test('test_unrecur: a removed recurring job spawns no more', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', { ...mail, every: '1m' })

    expect(await place.queue.recurring.remove('a')).toBe(true)
    await place.clock.advance(DAY)

    expect([await runs(place), await place.queue.recurring.get('a')]).toEqual([[], null])
  })

  test('test_empty_array_data: an empty list as payload stays a list', async () => {
    const { redis, name, clock } = await begin()
    const queue = redis.queue<{ list: unknown[] }>(name)
    await queue.recurring.set('a', { name: 'list', payload: [], every: '1m' })
    await clock.advance(MINUTE)

    expect((await queue.recurring.get('a'))?.payload).toEqual([])
    expect((await queue.claim())[0]?.payload).toEqual([])
  })

  test('test_multiple: when all missed runs are to be made up for, each has a job', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', { ...mail, every: '1m', missed: { upTo: 100 } })
    await place.clock.advance(10 * MINUTE + 59 * SECOND)

    expect(await runs(place)).toEqual(Array.from({ length: 10 }, (_, at) => (at + 1) * MINUTE))
  })

  test('test_rerecur: set again it continues to count its runs, and no id occurs twice', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', { ...mail, every: '1m' })
    await place.clock.advance(MINUTE)
    expect(await runs(place)).toEqual([MINUTE])

    await place.queue.recurring.set('a', { ...mail, every: '30s' })
    expect(await runs(place)).toEqual([])
    await place.clock.advance(30 * SECOND)

    expect(await runs(place)).toEqual([90 * SECOND])
    expect(await place.queue.recurring.get('a')).toMatchObject({ runs: 2 })
  })

  test('test_rerecur_move: set in another queue it is a different recurring job', async () => {
    const place = await begin()
    const other = await place.another()
    await place.queue.recurring.set('a', { ...mail, every: '1m' })
    await other.recurring.set('a', { ...mail, every: '2m' })
    await place.clock.advance(2 * MINUTE)

    expect([await runs(place), await runs(verbsOf(other))]).toEqual([[2 * MINUTE], [2 * MINUTE]])
    expect((await place.queue.recurring.list()).recurring).toHaveLength(1)
  })

  test('test_history: a spawned job is ready since the time of its run; its history shows when it was spawned', async () => {
    const { queue, pop, clock } = await begin()
    await queue.recurring.set('a', { ...mail, every: '1m', missed: { upTo: 10 } })
    await clock.advance(HOUR)

    await queue.settings.set({ concurrency: 1 })
    await pop({ limit: 1 })
    const { jobs } = await queue.jobs.list('ready')

    expect(jobs.map(({ atMs }) => atMs - START_MS)).toEqual(
      Array.from({ length: 9 }, (_, at) => (52 + at) * MINUTE),
    )
    const { entries = [] } = (await queue.jobs.history(jobs[0]?.id ?? '')) ?? {}
    expect(entries).toMatchObject([{ what: 'enqueued', atMs: START_MS + HOUR }])
  })
})
