import { describe, expect, test } from 'vitest'
import { begin, MINUTE, refusalOf, START_MS, verbsOf } from './fixture.ts'

const TEN = Array.from({ length: 10 }, (_, at) => `job ${at}`)

describe('TestPop', () => {
  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 201 }],
    ['limit', { limit: 'all' }],
    ['lease', { lease: 'long' }],
    ['lease', { lease: '1ms' }],
    ['wait', { wait: '2h' }],
    ['acks', { acks: ['a'] }],
    ['options.worker', { worker: 'w' }],
  ])('test_malformed: a claim names the wrong argument: %s %j', async (argument, options) => {
    const { queue, put, stateOf } = await begin()
    await put('a')

    expect(await refusalOf(queue.claim(options as never))).toBe(argument)

    expect(await stateOf('a')).toBe('ready')
  })

  test('test_basic: a claimed job has an attempt of its own, until its lease ends', async () => {
    const { queue, putAndPop } = await begin()
    const job = await putAndPop('a')

    expect(job).toMatchObject({ id: 'a', attempt: 1, expiresAtMs: START_MS + MINUTE })
    expect(await queue.jobs.get('a')).toMatchObject({
      state: 'claimed',
      attempts: 1,
      token: job.token,
      atMs: START_MS,
    })
  })

  test('test_pop_many: a claim returns all ready jobs, up to its limit', async () => {
    const { put, popIds } = await begin()
    for (const id of TEN) await put(id)

    expect(await popIds(7)).toEqual(TEN.slice(0, 7))
    expect(await popIds(7)).toEqual(TEN.slice(7))
  })

  test('test_priority: jobs are claimed by their priority, including priorities below the default', async () => {
    const { put, popIds } = await begin()
    const priorities = Array.from({ length: 20 }, (_, at) => ((at * 7) % 20) - 10)
    for (const priority of priorities) await put(`p${priority}`, { priority })

    expect(await popIds(20)).toEqual(Array.from({ length: 20 }, (_, at) => `p${9 - at}`))
  })

  test('test_time_order: jobs of one priority are claimed in the order of their arrival', async () => {
    const { put, popIds, clock } = await begin()
    for (const id of TEN) {
      await put(id, { priority: 1_000_000 })
      await clock.advance(1)
    }

    expect(await popIds(10)).toEqual(TEN)
  })

  test('test_move: each queue hands out its own jobs', async () => {
    const place = await begin()
    const other = verbsOf(await place.another())
    await place.put('a')
    await other.put('b')

    expect([await place.popIds(10), await other.popIds(10)]).toEqual([['a'], ['b']])
  })

  test('test_max_concurrency: no more jobs are claimed at once than the limit of the queue', async () => {
    const { queue, put, pop, popIds } = await begin()
    await queue.settings.set({ concurrency: 5 })
    for (const id of TEN) await put(id)

    const jobs = await pop({ limit: 10 })
    expect([jobs.length, await popIds(10)]).toEqual([5, []])

    for (const [at, job] of jobs.entries()) {
      await job.ack()
      expect(await popIds(10)).toEqual([`job ${5 + at}`])
    }
  })

  test('test_reduce_max_concurrency: a lower limit applies to the next claim, and takes no job away', async () => {
    const { queue, put, pop, popIds } = await begin()
    await queue.settings.set({ concurrency: 5 })
    for (const id of TEN) await put(id)
    const jobs = await pop({ limit: 10 })

    await queue.settings.set({ concurrency: 2 })
    for (const job of jobs.slice(0, 3)) {
      expect(await popIds()).toEqual([])
      await job.ack()
    }
    expect(await popIds()).toEqual([])
    await jobs[3]?.ack()

    expect(await popIds(10)).toEqual(['job 5'])
  })

  test('test_stalled_max_concurrency: a job whose lease ended is claimed again, even with a limit of one', async () => {
    const { queue, put, popIds, clock } = await begin()
    await queue.settings.set({ concurrency: 1 })
    await put('a')
    await put('b')
    expect([await popIds(10), await popIds()]).toEqual([['a'], []])

    await clock.advance(MINUTE)

    expect(await popIds(10)).toEqual(['a'])
  })

  test('test_fail_max_concurrency: a job that failed makes room for another', async () => {
    const { queue, put, pop, popIds } = await begin()
    await queue.settings.set({ concurrency: 1 })
    await put('a')
    await put('b')
    const [job] = await pop({ limit: 10 })
    expect(await popIds()).toEqual([])

    await job?.fail()

    expect(await popIds()).toEqual(['b'])
  })
})
