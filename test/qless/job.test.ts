import { describe, expect, test } from 'vitest'
import { begin, type Place, refusalOf, START_MS } from './fixture.ts'

describe('TestJob', () => {
  test.each([
    ['priority', ({ jobs }: Place['queue']) => jobs.reprioritize(['a'], 0.5)],
    ['priority', ({ jobs }: Place['queue']) => jobs.reprioritize(['a'], 1_000_001)],
    ['priority', ({ jobs }: Place['queue']) => jobs.reprioritize(['a'], 'high' as never)],
    ['ids', ({ jobs }: Place['queue']) => jobs.reprioritize([], 1)],
    ['ids', ({ jobs }: Place['queue']) => jobs.reprioritize('a' as never, 1)],
  ])('test_malformed: a new priority names the wrong argument: %s', async (argument, call) => {
    const { queue, put } = await begin()
    await put('a', { priority: 3 })

    expect(await refusalOf(async () => call(queue))).toBe(argument)

    expect(await queue.jobs.get('a')).toMatchObject({ priority: 3 })
  })

  test('test_log: lines may be added to the log of a job', async () => {
    const { queue, put } = await begin()
    await put('a')

    expect(await queue.jobs.log('a', 'one')).toBe(true)
    expect(await queue.jobs.log('a', 'two')).toBe(true)

    expect((await queue.jobs.get('a'))?.log).toEqual([
      { atMs: START_MS, line: 'one' },
      { atMs: START_MS, line: 'two' },
    ])
  })

  test('test_log_nonexistent: a log line for an unknown job is not stored, and log returns false', async () => {
    const { queue } = await begin()

    expect(await queue.jobs.log('a', 'one')).toBe(false)
  })

  test('test_history: of a long history the first entry and the newest 99 are kept', async () => {
    const { queue, put, pop } = await begin()
    await put('a', { maxAttempts: 1000, backoff: 'none' })
    for (let attempt = 1; attempt <= 120; attempt++) await (await pop())[0]?.retry({ kind: `${attempt}` })

    const { entries = [], omitted = 0 } = (await queue.jobs.history('a')) ?? {}

    const retried = entries.filter(({ what }) => what === 'retried').map(({ attempt }) => attempt)
    expect(entries[0]).toMatchObject({ what: 'enqueued', attempt: null })
    expect([retried, omitted]).toEqual([[1, ...Array.from({ length: 99 }, (_, at) => 22 + at)], 20])
  })
})

describe('TestRequeue', () => {
  test('test_requeue_existing_job: an existing job becomes ready, and its attempts count from the start', async () => {
    const { queue, put, putAndPop, pop } = await begin()
    await (await putAndPop('dead', { maxAttempts: 1 })).retry()
    await put('scheduled', { delay: '1h' })

    expect(await queue.jobs.requeue(['dead', 'scheduled'])).toEqual(['requeued', 'requeued'])

    const jobs = await pop({ limit: 10 })
    expect(jobs.map(({ id, attempt }) => [id, attempt])).toEqual([
      ['dead', 1],
      ['scheduled', 1],
    ])
  })

  test('test_requeue_cancelled_job: a job that was cancelled or never existed is reported as absent', async () => {
    const { queue, put, count } = await begin()
    await put('a')
    await queue.jobs.cancel(['a'])

    expect(await queue.jobs.requeue(['a', 'never there'])).toEqual(['absent', 'absent'])

    expect(await count('ready')).toBe(0)
  })
})
