import { describe, expect, test } from 'vitest'
import { begin, MINUTE, type Place, refusalOf } from './fixture.ts'

async function tagsOf({ queue }: Place, id: string): Promise<readonly string[] | undefined> {
  return (await queue.jobs.get(id))?.tags
}

async function tagged({ queue }: Place, tag: string): Promise<string[]> {
  return (await queue.jobs.search({ tag })).jobs.map(({ id }) => id)
}

describe('TestTag', () => {
  test.each([
    ['tags', ({ jobs }: Place['queue']) => jobs.tag('a', 'urgent' as never)],
    ['tags', ({ jobs }: Place['queue']) => jobs.tag('a', [''])],
    ['tags', ({ jobs }: Place['queue']) => jobs.untag('a', [7 as never])],
    ['tags', ({ jobs }: Place['queue']) => jobs.tag('a', ['x'.repeat(101)])],
    ['id', ({ jobs }: Place['queue']) => jobs.tag('', ['urgent'])],
    ['tag', ({ jobs }: Place['queue']) => jobs.search({ tag: '' })],
    ['limit', ({ jobs }: Place['queue']) => jobs.tags({ limit: 0 })],
    ['after', ({ jobs }: Place['queue']) => jobs.search({ tag: 'urgent', after: 'here' })],
  ])('test_malformed: a call about tags names the wrong argument: %s', async (argument, call) => {
    const place = await begin()
    await place.put('a')

    expect(await refusalOf(async () => call(place.queue))).toBe(argument)

    expect(await tagsOf(place, 'a')).toEqual([])
  })

  test('test_add: tags can be added to a job', async () => {
    const place = await begin()
    await place.put('a')

    expect(await place.queue.jobs.tag('a', ['foo'])).toEqual(['foo'])

    expect(await tagsOf(place, 'a')).toEqual(['foo'])
  })

  test('test_remove: tags can be removed from a job', async () => {
    const place = await begin()
    await place.put('a', { tags: ['foo', 'bar'] })

    expect(await place.queue.jobs.untag('a', ['foo'])).toEqual(['bar'])

    expect([await tagsOf(place, 'a'), await tagged(place, 'foo')]).toEqual([['bar'], []])
  })

  test('test_add_existing: an existing tag is not added twice', async () => {
    const place = await begin()
    await place.put('a', { tags: ['foo'] })

    expect(await place.queue.jobs.tag('a', ['foo', 'bar'])).toEqual(['foo', 'bar'])

    expect(await tagged(place, 'foo')).toEqual(['a'])
  })

  test('test_remove_nonexistent: a missing tag can be removed from a job', async () => {
    const place = await begin()
    await place.put('a', { tags: ['foo'] })

    expect(await place.queue.jobs.untag('a', ['bar'])).toEqual(['foo'])
    expect(await place.queue.jobs.untag('never there', ['bar'])).toBeNull()
  })

  test('test_add_multiple: a tag that is named twice is added once', async () => {
    const { queue, put } = await begin()
    await put('a')

    expect(await queue.jobs.tag('a', ['foo', 'foo'])).toEqual(['foo'])
  })

  test('test_get: jobs are found by their tags', async () => {
    const place = await begin()
    await place.put('a', { tags: ['foo', 'both'] })
    await place.put('b', { tags: ['bar', 'both'] })

    expect([await tagged(place, 'foo'), await tagged(place, 'bar')]).toEqual([['a'], ['b']])
    expect([await tagged(place, 'both'), await tagged(place, 'none')]).toEqual([['a', 'b'], []])
  })

  test('test_get_add: a job is found by a tag that was added later', async () => {
    const place = await begin()
    await place.put('a')
    await place.queue.jobs.tag('a', ['foo'])

    expect(await tagged(place, 'foo')).toEqual(['a'])
  })

  test('test_order: tags keep the order in which they were added', async () => {
    const place = await begin()
    const tags = ['f', 'a', 'e', 'b', 'd', 'c']
    await place.put('a', { tags: tags.slice(0, 3) })
    await place.queue.jobs.tag('a', tags.slice(3))

    expect(await tagsOf(place, 'a')).toEqual(tags)
  })

  test('test_cancel: a cancelled job is not found by its tags, and its tags are removed', async () => {
    const place = await begin()
    await place.put('a', { tags: ['foo'] })
    await place.queue.jobs.cancel(['a'])

    expect([await tagged(place, 'foo'), await place.queue.jobs.tags()]).toEqual([[], []])
  })

  test('test_expired_jobs: a kept job that is too old is not found by its tags', async () => {
    const place = await begin()
    await place.queue.settings.set({ retention: { age: '1m' } })
    await (await place.putAndPop('a', { tags: ['foo'] })).ack()
    expect(await tagged(place, 'foo')).toEqual(['a'])
    await place.clock.advance(MINUTE)
    await (await place.putAndPop('b')).ack()

    expect([await tagged(place, 'foo'), await place.queue.jobs.tags()]).toEqual([[], []])
  })

  test('test_expired_count_jobs: a job over the limit of kept jobs is not found by its tags', async () => {
    const place = await begin()
    await place.queue.settings.set({ retention: { count: 1 } })
    await (await place.putAndPop('a', { tags: ['foo'] })).ack()
    expect(await tagged(place, 'foo')).toEqual(['a'])
    await place.clock.advance(1)
    await (await place.putAndPop('b')).ack()

    expect([await tagged(place, 'foo'), await place.queue.jobs.tags()]).toEqual([[], []])
  })

  test('test_top: the most common tags are returned with their number of jobs', async () => {
    const { queue, put } = await begin()
    await put('a', { tags: ['rare', 'often'] })
    for (const id of ['b', 'c']) await put(id, { tags: ['often'] })

    expect(await queue.jobs.tags()).toEqual([
      { tag: 'often', count: 3 },
      { tag: 'rare', count: 1 },
    ])
  })

  test('test_recurring: spawned jobs are found by the tags of the recurring job', async () => {
    const place = await begin()
    await place.queue.recurring.set('a', {
      name: 'mail',
      payload: { to: 'ada' },
      every: '1m',
      tags: ['foo'],
    })
    await place.clock.advance(MINUTE)
    const ids = await place.popIds()

    expect(ids).toHaveLength(1)
    expect(await tagged(place, 'foo')).toEqual(ids)
  })

  test('test_pagination_get: jobs are found by a tag page by page, the oldest first', async () => {
    const { queue, put } = await begin()
    const ids = Array.from({ length: 10 }, (_, at) => `job ${at}`)
    for (const id of ids) await put(id, { tags: ['foo'] })

    const found: string[] = []
    for (let after: string | null = '0'; after !== null; ) {
      const { jobs, next } = await queue.jobs.search({ tag: 'foo', limit: 3, after })
      expect(jobs.length).toBeLessThanOrEqual(3)
      found.push(...jobs.map(({ id }) => id))
      after = next
    }

    expect(found).toEqual(ids)
  })

  test('test_pagination_top: as many of the most common tags are returned as requested', async () => {
    const { queue, put } = await begin()
    const tags = ['a', 'b', 'c', 'd', 'e']
    for (let at = 1; at <= tags.length; at++) await put(`job ${at}`, { tags: tags.slice(0, at) })

    expect(await queue.jobs.tags({ limit: 2 })).toEqual([
      { tag: 'a', count: 5 },
      { tag: 'b', count: 4 },
    ])
  })
})
