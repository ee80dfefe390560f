import { describe, expect, test } from 'vitest'
import { begin, guessed, MINUTE, type Place, refusalOf } from './fixture.ts'

/** What becomes of a job that a caller acks without holding it. */
async function ackGuessed({ queue, stateOf }: Place, id: string): Promise<[string, string]> {
  const [settled] = await queue.byToken.ack([guessed(id)])
  return [settled?.outcome ?? '', await stateOf(id)]
}

describe('TestComplete', () => {
  test.each([
    ['jobs', []],
    ['jobs', 'a'],
    ['jobs', Array.from({ length: 501 }, () => ({ id: 'a', token: 1 }))],
    ['id', [{ token: 1 }]],
    ['id', [{ id: '', token: 1 }]],
    ['token', [{ id: 'a' }]],
    ['token', [{ id: 'a', token: 0 }]],
    ['token', [{ id: 'a', token: 1.5 }]],
    ['job.worker', [{ id: 'a', token: 1, worker: 'w' }]],
  ])('test_malformed: an ack names the wrong argument: %s %#', async (argument, jobs) => {
    const { queue, putAndPop, stateOf } = await begin()
    await putAndPop('a')

    expect(await refusalOf(queue.byToken.ack(jobs as never))).toBe(argument)

    expect(await stateOf('a')).toBe('claimed')
  })

  test('test_complete_waiting: a job that is not claimed cannot be acked', async () => {
    const place = await begin()
    await place.put('a')

    expect(await ackGuessed(place, 'a')).toEqual(['lost', 'ready'])
  })

  test('test_complete_depends: a blocked job cannot be acked', async () => {
    const place = await begin()
    await place.put('dependency')
    await place.put('a', { dependsOn: ['dependency'] })

    expect(await ackGuessed(place, 'a')).toEqual(['lost', 'blocked'])
  })

  test('test_complete_scheduled: a scheduled job cannot be acked', async () => {
    const place = await begin()
    await place.put('a', { delay: '1m' })

    expect(await ackGuessed(place, 'a')).toEqual(['lost', 'scheduled'])
  })

  test('test_complete_nonexistent: an unknown job cannot be acked', async () => {
    const { queue } = await begin()

    expect(await queue.byToken.ack([guessed('a')])).toEqual([{ outcome: 'lost', reason: 'absent' }])
  })

  test('test_complete_failed: a dead job cannot be acked, not even by the attempt of which it died', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    const { token } = await putAndPop('a')
    await queue.byToken.fail([{ id: 'a', token }])

    expect(await queue.byToken.ack([{ id: 'a', token }])).toEqual([{ outcome: 'lost', reason: 'dead' }])

    expect(await stateOf('a')).toBe('dead')
  })

  test('test_complete_previously_failed: a job that died, was requeued and acked has no failure left', async () => {
    const { queue, putAndPop, pop, stateOf } = await begin()
    await (await putAndPop('a')).fail({ kind: 'BadAddress' })
    await queue.jobs.requeue(['a'])
    await (await pop())[0]?.ack()

    expect([await stateOf('a'), await queue.dead.list()]).toEqual(['absent', []])
  })

  test('test_basic: an acked job is removed, or stays with its result when the queue keeps results', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    await (await putAndPop('a')).ack()
    await queue.settings.set({ retention: { count: 1 } })
    await (await putAndPop('b')).ack({ sent: 3 })

    expect(await stateOf('a')).toBe('absent')
    expect(await queue.jobs.get('b')).toMatchObject({ state: 'done', result: { sent: 3 } })
    expect(await queue.inspect()).toMatchObject({ acked: 2, done: 1, claimed: 0, ready: 0 })
  })

  test('test_advance: one step completes a job and enqueues its successor', async () => {
    const { putAndPop, stateOf, calls } = await begin()
    const job = await putAndPop('a')
    const before = calls.length

    expect(await job.ackAndEnqueue({ name: 'mail', payload: { to: 'b' }, id: 'b' })).toEqual({
      id: 'b',
      duplicate: false,
    })

    expect(calls.slice(before)).toEqual(['queue/ack-and-enqueue'])
    expect([await stateOf('a'), await stateOf('b')]).toEqual(['absent', 'ready'])
  })

  test('test_advance_empty_array_mangle: an empty list stays a list, in payload, progress and result', async () => {
    const { redis, name } = await begin()
    const queue = redis.queue<{ list: { list: unknown[] } }>(name)
    await queue.settings.set({ retention: { count: 5 } })
    await queue.enqueue('list', { list: [] }, { id: 'a' })
    const [job] = await queue.claim()
    await job?.progress([])
    await job?.ackAndEnqueue({ name: 'list', payload: { list: [] }, id: 'b' }, [])

    expect(await queue.jobs.get('a')).toMatchObject({ payload: { list: [] }, progress: [], result: [] })
    expect((await queue.claim())[0]?.payload).toEqual({ list: [] })
  })

  test('test_wrong_worker: only the attempt that holds the job acks it', async () => {
    const { putAndPop, pop, clock } = await begin()
    const first = await putAndPop('a')
    await clock.advance(MINUTE)
    const [second] = await pop()

    expect(await refusalOf(first.ack())).toBe('lost')

    expect(await refusalOf(second?.ack() ?? Promise.reject(new Error('nothing was claimed')))).toBe('none')
  })

  test('test_wrong_queue: a job is acked in its own queue only', async () => {
    const { putAndPop, another, stateOf } = await begin()
    const { id, token } = await putAndPop('a')
    const other = await another()

    expect(await other.byToken.ack([{ id, token }])).toEqual([{ outcome: 'lost', reason: 'absent' }])

    expect(await stateOf('a')).toBe('claimed')
  })

  test('test_expire_complete_count: a limited number of the newest done jobs is kept', async () => {
    const { queue, putAndPop, clock } = await begin()
    await queue.settings.set({ retention: { count: 3 } })
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await (await putAndPop(id)).ack()
      await clock.advance(1)
    }

    expect((await queue.jobs.list('done')).jobs.map(({ id }) => id).toSorted()).toEqual(['c', 'd', 'e'])
  })

  test('test_expire_complete_time: done jobs are kept for a limited time, until the next ack', async () => {
    const { queue, putAndPop, clock, stateOf } = await begin()
    await queue.settings.set({ retention: { age: '1m' } })
    await (await putAndPop('a')).ack()
    await clock.advance(MINUTE / 2)
    await (await putAndPop('b')).ack()
    await clock.advance(MINUTE / 2)

    await (await putAndPop('c')).ack()

    expect([await stateOf('a'), await stateOf('b'), await stateOf('c')]).toEqual(['absent', 'done', 'done'])
  })
})
