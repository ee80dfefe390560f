import { describe, expect, test } from 'vitest'
import { begin, guessed, MINUTE, type Place, refusalOf, SECOND } from './fixture.ts'

/** What becomes of a job that a caller extends without holding it. */
async function extendGuessed({ queue, stateOf }: Place, id: string): Promise<[string, string]> {
  const { jobs } = await queue.byToken.extend([guessed(id)], '1h')
  return [jobs[0]?.outcome ?? '', await stateOf(id)]
}

describe('TestLocks', () => {
  test.each([
    ['lease', [{ id: 'a', token: 1 }], 'long'],
    ['lease', [{ id: 'a', token: 1 }], '1ms'],
    ['lease', [{ id: 'a', token: 1 }], '31d'],
    ['jobs', [], '1m'],
    ['id', [{ id: '', token: 1 }], '1m'],
    ['token', [{ id: 'a', token: 'mine' }], '1m'],
    ['job.worker', [{ id: 'a', token: 1, worker: 'w' }], '1m'],
  ])('test_malformed: an extension names the wrong argument: %s %#', async (argument, jobs, lease) => {
    const { queue } = await begin()

    expect(await refusalOf(queue.byToken.extend(jobs as never, lease as never))).toBe(argument)
  })

  test('test_move: a job that was advanced to another queue can no longer be extended', async () => {
    const { queue, putAndPop, another } = await begin()
    const job = await putAndPop('a')
    const { id, token } = job
    await job.ackAndEnqueue({ queue: (await another()).name, name: 'mail', payload: { to: 'a' }, id: 'a' })

    const { jobs } = await queue.byToken.extend([{ id, token }])

    expect(jobs).toEqual([{ outcome: 'lost', reason: 'absent' }])
  })

  test('test_lose_lock: a job goes to another worker when its lease is over, and that costs an attempt', async () => {
    const { queue, putAndPop, pop, clock } = await begin()
    const first = await putAndPop('a', { maxAttempts: 5 })
    await clock.advance(MINUTE - 1)
    expect(await pop()).toEqual([])
    await clock.advance(1)

    const [second] = await pop()

    expect(second).toMatchObject({ id: 'a', attempt: 2, maxAttempts: 5 })
    expect(await refusalOf(first.extend('1m'))).toBe('lost')
    const { entries = [] } = (await queue.jobs.history('a')) ?? {}
    expect(entries.map(({ what }) => what)).toEqual(['enqueued', 'claimed', 'reclaimed', 'claimed'])
  })

  test('test_heartbeat: an extension starts the full lease again from now on', async () => {
    const { putAndPop, popIds, clock } = await begin()
    const job = await putAndPop('a')
    const { expiresAtMs } = job
    await clock.advance(50 * SECOND)

    await job.extend('1m')
    expect(job.expiresAtMs).toBe(expiresAtMs + 50 * SECOND)
    await clock.advance(MINUTE - 1)
    expect(await popIds()).toEqual([])
    await clock.advance(1)

    expect(await popIds()).toEqual(['a'])
  })

  test('test_heartbeat_waiting: a job that is not claimed cannot be extended', async () => {
    const place = await begin()
    await place.put('a')

    expect(await extendGuessed(place, 'a')).toEqual(['lost', 'ready'])
  })

  test('test_heartbeat_failed: a dead job cannot be extended', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    const { token, id, ...job } = await putAndPop('a')
    await queue.byToken.fail([{ id, token }])

    const { jobs } = await queue.byToken.extend([{ id: 'a', token }])

    expect([job.attempt, jobs, await stateOf('a')]).toEqual([
      1,
      [{ outcome: 'lost', reason: 'dead' }],
      'dead',
    ])
  })

  test('test_heartbeat_depends: a blocked job cannot be extended', async () => {
    const place = await begin()
    await place.put('dependency')
    await place.put('a', { dependsOn: ['dependency'] })

    expect(await extendGuessed(place, 'a')).toEqual(['lost', 'blocked'])
  })

  test('test_heartbeat_scheduled: a scheduled job cannot be extended', async () => {
    const place = await begin()
    await place.put('a', { delay: '1h' })

    expect(await extendGuessed(place, 'a')).toEqual(['lost', 'scheduled'])
  })

  test('test_heartbeat_nonexistent: an unknown job cannot be extended', async () => {
    const { queue } = await begin()

    expect((await queue.byToken.extend([guessed('a')])).jobs).toEqual([{ outcome: 'lost', reason: 'absent' }])
  })

  test('test_heartbeat_completed: a done job cannot be extended', async () => {
    const { queue, putAndPop } = await begin()
    await queue.settings.set({ retention: { count: 1 } })
    const { id, token } = await putAndPop('a')
    await queue.byToken.ack([{ id, token }])

    expect((await queue.byToken.extend([{ id, token }])).jobs).toEqual([{ outcome: 'lost', reason: 'acked' }])
  })

  test('test_heartbeat_wrong_worker: only the attempt that holds the job extends it', async () => {
    const place = await begin()
    const job = await place.putAndPop('a')

    expect(await extendGuessed(place, 'a')).toEqual(['lost', 'claimed'])

    expect(await refusalOf(job.extend('1m'))).toBe('none')
  })
})
