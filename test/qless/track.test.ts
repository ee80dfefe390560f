import { describe, expect, test } from 'vitest'
import { begin, type Place, refusalOf } from './fixture.ts'

async function tracked({ queue }: Place): Promise<string[]> {
  return (await queue.jobs.tracked()).jobs.map(({ id }) => id)
}

describe('TestTrack', () => {
  test.each([
    ['id', ({ jobs }: Place['queue']) => jobs.track('')],
    ['id', ({ jobs }: Place['queue']) => jobs.untrack(7 as never)],
    ['limit', ({ jobs }: Place['queue']) => jobs.tracked({ limit: 0 })],
    ['after', ({ jobs }: Place['queue']) => jobs.tracked({ after: 'here' })],
    ['options.offset', ({ jobs }: Place['queue']) => jobs.tracked({ offset: 1 } as never)],
  ])('test_malfomed: a call about tracked jobs names the wrong argument: %s', async (argument, call) => {
    const { queue } = await begin()

    expect(await refusalOf(async () => call(queue))).toBe(argument)
  })

  test('test_track: a tracked job is in the list of tracked jobs', async () => {
    const place = await begin()
    await place.put('a')
    await place.put('b')

    expect(await place.queue.jobs.track('a')).toBe(true)

    expect(await tracked(place)).toEqual(['a'])
  })

  test('test_untrack: a job that is no longer tracked is not in the list', async () => {
    const place = await begin()
    await place.put('a')
    await place.queue.jobs.track('a')

    expect(await place.queue.jobs.untrack('a')).toBe(true)

    expect(await tracked(place)).toEqual([])
  })

  test('test_track_nonexistent: an unknown job is reported as absent, and nothing is tracked', async () => {
    const place = await begin()

    expect(await place.queue.jobs.track('a')).toBe(false)

    expect(await tracked(place)).toEqual([])
  })

  test('test_jobs_tracked: a job shows that it is tracked', async () => {
    const { queue, putAndPop } = await begin()
    await putAndPop('a')
    await queue.jobs.track('a')

    expect(await queue.jobs.get('a')).toMatchObject({ isTracked: true })
    expect((await queue.jobs.list('claimed')).jobs).toMatchObject([{ id: 'a', isTracked: true }])
  })

  test('test_jobs_untracked: a job shows that it is not tracked', async () => {
    const { queue, putAndPop } = await begin()
    await putAndPop('a')
    expect(await queue.jobs.get('a')).toMatchObject({ isTracked: false })

    await queue.jobs.track('a')
    await queue.jobs.untrack('a')

    expect(await queue.jobs.get('a')).toMatchObject({ isTracked: false })
  })
})
