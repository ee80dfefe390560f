import type { Spread } from 'perilune'
import { describe, expect, test } from 'vitest'
import { begin, DAY, MINUTE, refusalOf, SECOND } from './fixture.ts'

const twenty = Array.from({ length: 20 }, (_, at) => `job ${at}`)

/** Times of 0 to 19 seconds: percentiles are at most 6.25 % off. */
function expectSeconds(spread: Spread): void {
  expect(spread.count).toBe(20)
  // The numbers of jobs that come at the same time are one microsecond apart.
  expect(spread.meanMs).toBeCloseTo(9500, 0)
  expect(spread.maxMs).toBeCloseTo(19_000, 0)
  expect(Math.abs(spread.p50Ms / 9000 - 1)).toBeLessThan(0.0626)
  expect(Math.abs(spread.p90Ms / 17_000 - 1)).toBeLessThan(0.0626)
}

describe('TestStats', () => {
  test('test_malformed: meaningless arguments are rejected', async () => {
    const { queue } = await begin()

    expect(await refusalOf(queue.stats({ by: 'week' as 'day' }))).toBe('by')
    expect(await refusalOf(queue.stats({ last: 121 }))).toBe('last')
    expect(await refusalOf(queue.stats({ name: '' }))).toBe('name')
  })

  test('test_wait: waiting times have a count, mean, percentiles and maximum', async () => {
    const { queue, put, pop, clock } = await begin()
    for (const id of twenty) await put(id)
    for (const _ of twenty) {
      await pop()
      await clock.advance(SECOND)
    }

    expectSeconds((await queue.stats({ by: 'hour', last: 1 })).total.wait)
  })

  test('test_completion: run times have the same figures', async () => {
    const { queue, put, pop, clock } = await begin()
    for (const id of twenty) await put(id)
    for (const job of await pop({ limit: 20 })) {
      await job.ack()
      await clock.advance(SECOND)
    }

    expectSeconds((await queue.stats({ by: 'hour', last: 1 })).total.run)
  })

  test('test_failed: failures are counted for ever, and currently dead jobs next to them', async () => {
    const { queue, putAndPop, count } = await begin()
    const job = await putAndPop('a')
    await job.fail({ kind: 'odd' })
    expect([(await queue.stats()).total.failed, await count('dead')]).toEqual([1, 1])

    await queue.dead.requeue('odd')

    expect([(await queue.stats()).total.failed, await count('dead')]).toEqual([1, 0])
  })

  test('test_failed_cancel: a dead job that is cancelled stays a failure, and is no longer dead', async () => {
    const { queue, putAndPop, count } = await begin()
    const job = await putAndPop('a')
    await job.fail()
    await queue.jobs.cancel(['a'])

    expect((await queue.stats()).total).toMatchObject({ failed: 1, cancelled: 1 })
    expect(await count('dead')).toBe(0)
  })

  test('test_retries: retries are counted', async () => {
    const { queue, putAndPop } = await begin()
    const job = await putAndPop('a')
    await job.retry({ delay: '0ms' })

    expect((await queue.stats()).total).toMatchObject({ retried: 1, failed: 0, run: { count: 1 } })
  })

  test('test_original_day: a count stays with its day, even when the job is requeued later', async () => {
    const { queue, putAndPop, clock } = await begin()
    const job = await putAndPop('a')
    await job.fail({ kind: 'odd' })
    await clock.advance(1.5 * DAY)
    await queue.dead.requeue('odd')

    const { periods, total } = await queue.stats({ by: 'day', last: 3 })

    expect(total.failed).toBe(1)
    expect(periods.at(-1)?.failed).toBe(0)
  })

  test('test_failed_retries: a retry of the last attempt is counted as a failure', async () => {
    const { queue, putAndPop } = await begin()
    const job = await putAndPop('a', { maxAttempts: 1 })
    await job.retry()

    expect((await queue.stats()).total).toMatchObject({ retried: 0, failed: 1, run: { count: 1 } })
  })

  test('test_failed_pop_retries: so is a lease that ended in the last attempt, which did not finish', async () => {
    const { queue, putAndPop, pop, clock } = await begin()
    await putAndPop('a', { maxAttempts: 1 })
    await clock.advance(MINUTE)
    await pop()

    expect((await queue.stats()).total).toMatchObject({ reclaimed: 1, failed: 1, run: { count: 0 } })
  })
})
