import { InvalidArgumentError, type QueueEvent } from 'perilune'
import { describe, expect, test } from 'vitest'
import { type Setup, setup, until } from '../../../test/queue-fixture.ts'

const to = 'customer'

const tagged = async ({ queue }: Setup, tag: string): Promise<string[]> =>
  (await queue.jobs.search({ tag })).jobs.map(({ id }) => id)

const part = ({ name }: Setup, what: string): string => `queue-test:{queue:${name}}:${what}`

describe('tags', () => {
  // qless: test_add, test_add_existing, test_add_multiple, test_order, test_get_add.
  test('are added in their order, none twice, and found at once', async () => {
    const place = await setup()
    const { queue } = place
    const { id } = await queue.enqueue('mail', { to }, { tags: ['one'] })

    expect(await queue.jobs.tag(id, ['two', 'one', 'three', 'two'])).toEqual(['one', 'two', 'three'])
    expect(await queue.jobs.get(id)).toMatchObject({ tags: ['one', 'two', 'three'], state: 'ready' })
    expect(await tagged(place, 'three')).toEqual([id])
    expect((await queue.claim())[0]?.tags).toEqual(['one', 'two', 'three'])
  })

  // qless: test_remove, test_remove_nonexistent.
  test('are removed, also one that the job does not have', async () => {
    const place = await setup()
    const { queue, client } = place
    const { id } = await queue.enqueue('mail', { to }, { tags: ['one', 'two'] })

    expect(await queue.jobs.untag(id, ['one', 'odd'])).toEqual(['two'])
    expect(await tagged(place, 'one')).toEqual([])
    expect(await queue.jobs.untag(id, ['two'])).toEqual([])
    expect(await client.exists(part(place, 'tagged'))).toBe(0)
    expect(await queue.jobs.tag('absent', ['one'])).toBe(null)
  })

  test('can be added to a plain job in any state, and its bytes stay correct', async () => {
    const place = await setup()
    const { queue, client } = place
    await queue.settings.set({ retention: { count: 5 } })
    const added = await queue.enqueueMany(
      Array.from({ length: 4 }, () => ({ name: 'mail' as const, payload: { to } })),
    )
    const [kept, dead, claimed, ready] = added.map(({ id }) => id)
    const jobs = await queue.claim({ limit: 3 })
    await jobs[0]?.ack()
    await jobs[1]?.fail()
    for (const id of [kept, dead, claimed, ready])
      expect(await queue.jobs.tag(String(id), ['x'])).toEqual(['x'])

    expect(await tagged(place, 'x')).toEqual([kept, dead, claimed, ready])
    const one = (await queue.jobs.get(String(ready)))?.bytes
    const inspection = await queue.settings.inspect()
    expect(inspection).toMatchObject({ readyBytes: one, claimedBytes: one, deadBytes: one, doneBytes: one })
    await jobs[2]?.ack()
    for (const job of await queue.claim()) await job.ack()
    await queue.dead.drop('failed')
    await queue.jobs.cancel([kept, claimed, ready].map(String))
    expect(await client.exists(part(place, 'tagged'))).toBe(0)
    const empty = { readyBytes: 0, claimedBytes: 0, deadBytes: 0, doneBytes: 0 }
    expect(await queue.settings.inspect()).toMatchObject(empty)
  })

  // qless: test_get, test_pagination_get.
  test('find their jobs page by page, the oldest first, also by name and state', async () => {
    const { queue } = await setup()
    const added = await queue.enqueueMany(
      Array.from({ length: 5 }, (_, at) => ({
        name: at === 2 ? ('image' as const) : ('mail' as const),
        payload: { to, url: '' },
        tags: ['t', `only ${at}`],
      })),
    )
    await queue.enqueue('mail', { to }, { tags: ['to', 's'] })
    const ids = added.map(({ id }) => id)

    const first = await queue.jobs.search({ tag: 't', limit: 2 })
    const second = await queue.jobs.search({ tag: 't', limit: 2, after: first.next ?? '' })
    const third = await queue.jobs.search({ tag: 't', limit: 2, after: second.next ?? '' })
    expect([first, second, third].flatMap(({ jobs }) => jobs.map(({ id }) => id))).toEqual(ids)
    expect(third.next).toBe(null)
    expect((await queue.jobs.search({ tag: 't', name: 'image' })).jobs).toHaveLength(1)
    expect((await queue.jobs.search({ tag: 't', state: 'dead' })).jobs).toEqual([])
  })

  // qless: test_cancel, test_expired_jobs, test_expired_count_jobs.
  test('are removed with their jobs: acked, cancelled, dead and dropped, lost and stopped, or kept no longer', async () => {
    const place = await setup()
    const { queue, client, clock } = place
    await queue.settings.set({ retention: { count: 1 } })
    const tags = ['t']
    await queue.enqueueMany([
      { name: 'mail', payload: { to }, id: 'first', tags },
      { name: 'mail', payload: { to }, id: 'second', tags },
      { name: 'mail', payload: { to }, id: 'stopped', tags },
      { name: 'mail', payload: { to }, id: 'lost', tags, maxAttempts: 1 },
      { name: 'mail', payload: { to }, id: 'cancelled', tags },
    ])
    const jobs = await queue.claim({ limit: 4, lease: '1s' })
    await jobs[0]?.ack()
    await jobs[1]?.ack()
    expect(await tagged(place, 't')).toHaveLength(4)
    await queue.jobs.cancel(['stopped', 'cancelled'])
    await clock.advance(1000)
    await queue.claim()
    expect((await queue.jobs.search({ tag: 't' })).jobs.map(({ id }) => id)).toEqual(['second', 'lost'])
    await queue.dead.drop('lost')
    await queue.jobs.cancel(['second'])
    expect(await client.exists(part(place, 'tagged'))).toBe(0)
  })

  // qless: test_top, test_pagination_top.
  test('are counted, the most common first, without those that no job has', async () => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to }, { tags: ['rare', 'usual', 'gone'] })
    for (const tags of [['usual'], ['usual', 'often'], ['often']])
      await queue.enqueue('mail', { to }, { tags })
    await queue.jobs.untag(id, ['gone'])
    await queue.jobs.track(id)

    expect(await queue.jobs.tags()).toEqual([
      { tag: 'usual', count: 3 },
      { tag: 'often', count: 2 },
      { tag: 'rare', count: 1 },
    ])
    expect(await queue.jobs.tags({ limit: 1 })).toEqual([{ tag: 'usual', count: 3 }])
  })

  test('are all counted, for any number of them', async () => {
    const { queue } = await setup()
    const jobs = Array.from({ length: 60 }, (_, job) => ({
      name: 'mail' as const,
      payload: { to },
      tags: Array.from({ length: 20 }, (_each, at) =>
        job === 59 && at === 19 ? 'tag 0-0' : `tag ${job}-${at}`,
      ),
    }))
    await queue.enqueueMany(jobs)

    const tags = await queue.jobs.tags({ limit: 1000 })
    expect(tags).toHaveLength(1000)
    expect(tags[0]).toEqual({ tag: 'tag 0-0', count: 2 })
  })

  test('of a replaced job are those of its successor', async () => {
    const place = await setup()
    const { queue } = place
    const unique = { key: 'k', replace: true }
    const { id } = await queue.enqueue('mail', { to }, { unique, tags: ['old', 'both'] })
    await queue.jobs.track(id)
    await queue.enqueue('mail', { to }, { unique, tags: ['both', 'new'] })

    expect(await queue.jobs.tags()).toEqual([
      { tag: 'both', count: 1 },
      { tag: 'new', count: 1 },
    ])
    expect(await queue.jobs.get(id)).toMatchObject({ isTracked: true, tags: ['both', 'new'] })
  })

  // qless: test_malformed.
  test('are at most twenty, of a hundred bytes', async () => {
    const { queue } = await setup()
    const { id } = await queue.enqueue('mail', { to }, { tags: ['one'] })
    const many = Array.from({ length: 20 }, (_, at) => `tag ${at}`)

    await expect(queue.jobs.tag(id, many)).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(queue.jobs.tag(id, ['x'.repeat(101)])).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(queue.jobs.tag(id, 'x' as never)).rejects.toBeInstanceOf(InvalidArgumentError)
    await expect(queue.jobs.tags({ limit: 0 })).rejects.toBeInstanceOf(InvalidArgumentError)
    expect(await queue.jobs.get(id)).toMatchObject({ tags: ['one'] })
  })
})

describe('tracked jobs', () => {
  // qless: test_track, test_untrack, test_jobs_tracked, test_jobs_untracked.
  test('are listed and have `isTracked` until they are untracked', async () => {
    const place = await setup()
    const { queue, client } = place
    const { id } = await queue.enqueue('mail', { to })
    await queue.enqueue('mail', { to }, { id: 'other' })
    expect(await queue.jobs.get(id)).toMatchObject({ isTracked: false })

    expect(await queue.jobs.track(id)).toBe(true)
    expect(await queue.jobs.track('other')).toBe(true)
    expect((await queue.jobs.tracked()).jobs.map((job) => [job.id, job.isTracked])).toEqual([
      [id, true],
      ['other', true],
    ])
    expect(await queue.jobs.untrack(id)).toBe(true)
    expect(await queue.jobs.get(id)).toMatchObject({ isTracked: false })
    for (const job of await queue.claim({ limit: 2 })) await job.ack()
    expect((await queue.jobs.tracked()).jobs).toEqual([])
    expect(await client.exists(part(place, 'tagged'))).toBe(0)
    expect(await client.hkeys(part(place, 'jobs'))).toEqual(['~'])
  })

  // qless: test_track_nonexistent; here it is a value, not an error.
  test('that do not exist cannot be tracked', async () => {
    const { queue } = await setup()
    expect(await queue.jobs.track('absent')).toBe(false)
    expect(await queue.jobs.untrack('absent')).toBe(false)
  })

  // qless: test_track of events, test_track_popped, test_track_completed.
  test('have events of their own', async () => {
    const { queue, client, name } = await setup()
    const heard: QueueEvent[] = []
    const aborter = new AbortController()
    const listening = (async () => {
      for await (const event of queue.events({ tracked: true, signal: aborter.signal })) heard.push(event)
    })().catch(() => undefined)
    await until(async () => (await client.exists(`queue-test:{queue:${name}}:listeners`)) === 1)
    await queue.enqueue('mail', { to })
    const { id } = await queue.enqueue('mail', { to }, { id: 'followed' })
    await queue.jobs.track(id)
    for (const job of await queue.claim({ limit: 2 })) await job.ack()

    await until(() => heard.length === 3)
    expect(heard.map((event) => [event.kind, 'id' in event && event.id])).toEqual([
      ['tracked', id],
      ['claimed', id],
      ['acked', id],
    ])
    aborter.abort()
    await listening
  })
})

test('an impossible cursor is rejected before a call to the server', async () => {
  const { queue } = await setup()

  await expect(queue.jobs.search({ after: '99999999999999999999' })).rejects.toMatchObject({
    name: 'InvalidArgumentError',
    argument: 'after',
  })
})
