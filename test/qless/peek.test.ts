import { describe, expect, test } from 'vitest'
import { begin, MINUTE, type Place, refusalOf, verbsOf } from './fixture.ts'

/** Those that are ready, in their order, as they are listed. */
async function peek(
  { queue }: Pick<Place, 'queue'>,
  state: 'ready' | 'prioritized' = 'ready',
): Promise<string[]> {
  return (await queue.jobs.list(state)).jobs.map(({ id }) => id)
}

describe('TestPeek', () => {
  test.each([
    ['state', ({ jobs }: Place['queue']) => jobs.list('' as never)],
    ['limit', ({ jobs }: Place['queue']) => jobs.list('ready', { limit: 1.5 })],
    ['limit', ({ jobs }: Place['queue']) => jobs.list('ready', { limit: -1 })],
    ['options.count', ({ jobs }: Place['queue']) => jobs.list('ready', { count: 1 } as never)],
  ])('test_malformed: peek names the wrong argument: %s', async (argument, look) => {
    const { queue } = await begin()

    expect(await refusalOf(async () => look(queue))).toBe(argument)
  })

  test('test_basic: peek shows a ready job, and leaves it ready', async () => {
    const place = await begin()
    await place.put('a')

    expect(await peek(place)).toEqual(['a'])
    expect(await peek(place)).toEqual(['a'])

    expect(await place.popIds()).toEqual(['a'])
  })

  test('test_priority: peek shows jobs in the order of their priority', async () => {
    const place = await begin()
    for (const priority of [3, 1, 4, 2]) await place.put(`p${priority}`, { priority })

    expect(await peek(place, 'prioritized')).toEqual(['p4', 'p3', 'p2', 'p1'])
  })

  test('test_time_order: peek shows jobs of one priority in the order of their arrival', async () => {
    const place = await begin()
    const ids = ['d', 'a', 'c', 'b']
    for (const id of ids) await place.put(id)
    for (const id of ids) await place.put(`${id}5`, { priority: 5 })

    expect(await peek(place)).toEqual(ids)
    expect(await peek(place, 'prioritized')).toEqual(ids.map((id) => `${id}5`))
  })

  test('test_move: each queue shows its own jobs', async () => {
    const place = await begin()
    const other = await place.another()
    await place.put('a')
    await verbsOf(other).put('b')

    expect([await peek(place), await peek({ queue: other })]).toEqual([['a'], ['b']])
  })

  test('test_recurring: peek spawns no job, and returns the next run', async () => {
    const place = await begin()
    const { queue, clock } = place
    await queue.recurring.set('a', { name: 'mail', payload: { to: 'ada' }, every: '1m' })
    await clock.advance(MINUTE)
    const { nextAtMs } = (await queue.recurring.get('a')) ?? {}

    expect([await peek(place), (await queue.inspect()).enqueued]).toEqual([[], 0])

    expect(await place.popIds()).toEqual([`a@${nextAtMs}`])
  })

  test('test_priority_update: a job may get another priority; with its own one it keeps its place', async () => {
    const place = await begin()
    for (const id of ['a', 'b', 'c']) await place.put(id, { priority: 1 })

    expect(await place.queue.jobs.reprioritize(['b'], 1)).toEqual(['changed'])
    expect(await peek(place, 'prioritized')).toEqual(['a', 'b', 'c'])
    expect(await place.queue.jobs.reprioritize(['c'], 2)).toEqual(['changed'])

    expect(await peek(place, 'prioritized')).toEqual(['c', 'a', 'b'])
  })
})
