import { describe, expect, test } from 'vitest'
import { begin, HOUR, MINUTE, type Place, refusalOf, START_MS } from './fixture.ts'

type Listed = Parameters<Place['queue']['jobs']['list']>[0]

async function listed({ queue }: Place, state: Listed): Promise<string[]> {
  return (await queue.jobs.list(state)).jobs.map(({ id }) => id)
}

/** All ids of a state, page by page. */
async function paged({ queue }: Place, state: Listed, limit: number): Promise<string[][]> {
  const pages: string[][] = []
  for (let after: string | null = '0'; after !== null; ) {
    const { jobs, next } = await queue.jobs.list(state, { after, limit })
    pages.push(jobs.map(({ id }) => id))
    after = next
  }
  return pages
}

const TEN = Array.from({ length: 10 }, (_, at) => `job ${at}`)

describe('TestJobs', () => {
  test.each([
    ['state', ({ jobs }: Place['queue']) => jobs.list('running' as never)],
    ['state', ({ jobs }: Place['queue']) => jobs.list(undefined as never)],
    ['limit', ({ jobs }: Place['queue']) => jobs.list('done', { limit: 0 })],
    ['limit', ({ jobs }: Place['queue']) => jobs.list('done', { limit: 'all' as never })],
    ['after', ({ jobs }: Place['queue']) => jobs.list('done', { after: '-1' })],
    ['options.offset', ({ jobs }: Place['queue']) => jobs.list('done', { offset: 1 } as never)],
  ])('test_malformed: a list of jobs names the wrong argument: %s', async (argument, look) => {
    const { queue } = await begin()

    expect(await refusalOf(async () => look(queue))).toBe(argument)
  })

  test('test_complete: done jobs that are kept are listed', async () => {
    const place = await begin()
    await place.queue.settings.set({ retention: { count: 10 } })
    for (const id of ['a', 'b']) await (await place.putAndPop(id)).ack()

    expect((await listed(place, 'done')).toSorted()).toEqual(['a', 'b'])
  })

  test('test_running: claimed jobs are listed, ordered by the end of their lease', async () => {
    const place = await begin()
    await place.putAndPop('a')
    await place.clock.advance(1)
    await place.putAndPop('b')

    expect(await listed(place, 'claimed')).toEqual(['a', 'b'])
  })

  test('test_stalled: jobs whose lease ended are listed as claimed until the next claim', async () => {
    const place = await begin()
    await place.putAndPop('a')
    await place.clock.advance(MINUTE)
    expect([await listed(place, 'claimed'), await place.count('overdue')]).toEqual([['a'], 1])

    await place.queue.settings.pause()
    await place.pop()

    expect([await listed(place, 'claimed'), await listed(place, 'ready')]).toEqual([[], ['a']])
  })

  test('test_scheduled: scheduled jobs are listed, the soonest first', async () => {
    const place = await begin()
    await place.put('later', { delay: '2h' })
    await place.put('soon', { delay: '1h' })

    expect(await listed(place, 'scheduled')).toEqual(['soon', 'later'])
  })

  test('test_depends: blocked jobs are listed', async () => {
    const place = await begin()
    await place.put('a')
    await place.put('b', { dependsOn: ['a'] })

    expect([await listed(place, 'blocked'), await listed(place, 'ready')]).toEqual([['b'], ['a']])
  })

  test('test_recurring: recurring jobs are listed with their next run', async () => {
    const { queue } = await begin()
    await queue.recurring.set('a', { name: 'mail', payload: { to: 'ada' }, every: '1m' })

    const { recurring } = await queue.recurring.list()

    expect(recurring.map(({ id, nextAtMs }) => [id, nextAtMs])).toEqual([['a', START_MS + MINUTE]])
  })

  test('test_recurring_offset: a recurring job is listed before its first run', async () => {
    const { queue } = await begin()
    const offset = { every: '2h', offset: '1h' } as const
    await queue.recurring.set('a', { name: 'mail', payload: { to: 'ada' }, ...offset })

    const { recurring } = await queue.recurring.list()

    const next = Math.ceil((START_MS - HOUR + 1) / (2 * HOUR)) * 2 * HOUR + HOUR
    expect(recurring).toMatchObject([{ id: 'a', nextAtMs: next, runs: 0 }])
  })

  test('test_scheduled_waiting: a job that is due is listed as ready after the next claim', async () => {
    const place = await begin()
    await place.put('a', { delay: '1m' })
    await place.put('b', { delay: '1m' })
    await place.clock.advance(MINUTE)
    expect([await listed(place, 'scheduled'), await place.count('overdue')]).toEqual([['a', 'b'], 2])

    expect(await place.popIds()).toEqual(['a'])

    expect([await listed(place, 'scheduled'), await listed(place, 'ready')]).toEqual([[], ['b']])
  })

  test('test_pagination_complete: done jobs are listed page by page', async () => {
    const place = await begin()
    await place.queue.settings.set({ retention: { count: 100 } })
    for (const id of TEN) await (await place.putAndPop(id)).ack()

    const pages = await paged(place, 'done', 4)

    expect(pages.map(({ length }) => length)).toEqual([4, 4, 2])
    expect(pages.flat().toSorted()).toEqual(TEN)
  })

  test('test_pagination_running: claimed jobs are listed page by page', async () => {
    const place = await begin()
    for (const id of TEN) await place.put(id)
    await place.popIds(10)

    const pages = await paged(place, 'claimed', 4)

    expect(pages.map(({ length }) => length)).toEqual([4, 4, 2])
    expect(pages.flat().toSorted()).toEqual(TEN)
  })
})
