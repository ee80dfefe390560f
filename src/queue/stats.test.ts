import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup, until } from '../../test/queue-fixture.ts'

const to = 'customer'
const DAY_MS = 86_400_000

describe('the time that jobs wait and run', () => {
  test('is reported with count, mean, percentiles and maximum', async () => {
    const { queue, clock } = await setup()
    for (let second = 0; second < 20; second++) {
      await queue.enqueue('mail', { to })
      await clock.advance(1000)
    }
    const jobs = await queue.claim({ limit: 20 })
    for (const job of jobs) {
      await job.ack()
      await clock.advance(1000)
    }

    const { total, periods } = await queue.stats()

    expect(periods).toHaveLength(120)
    expect(total).toMatchObject({ enqueued: 20, acked: 20, retried: 0, failed: 0 })
    expect(total.wait).toMatchObject({ count: 20, meanMs: 10_500, maxMs: 20_000 })
    expect(total.run).toMatchObject({ count: 20, meanMs: 9500, maxMs: 19_000 })
    expect(Math.abs(total.wait.p50Ms / 10_000 - 1)).toBeLessThan(0.0625)
    expect(Math.abs(total.wait.p90Ms / 18_000 - 1)).toBeLessThan(0.0625)
    expect(Math.abs(total.run.p99Ms / 19_000 - 1)).toBeLessThan(0.0625)
  })

  test('is counted exactly for many calls in a minute and for long names', async () => {
    const { queue } = await setup()
    for (let round = 0; round < 130; round++) {
      await queue.enqueue('mail', { to })
      await (await queue.claim())[0]?.ack()
    }
    const names = Array.from({ length: 120 }, (_, at) => `${at}${'x'.repeat(240)}` as 'mail')
    await queue.enqueueMany(names.map((name) => ({ name, payload: { to } })))
    const jobs = await queue.claim({ limit: 200 })
    await queue.claim({ acks: jobs })

    const { total } = await queue.stats()

    expect(total).toMatchObject({ enqueued: 250, acked: 250, wait: { count: 250 }, run: { count: 250 } })
    expect((await queue.stats({ name: 'mail' })).total).toMatchObject({ acked: 130, run: { count: 130 } })
    expect((await queue.stats({ name: names[7] ?? '' })).total).toMatchObject({ acked: 1, run: { count: 1 } })
    expect(await queue.names()).toEqual(['mail', ...names.slice(0, 99)])
  })

  test('is reported by name, also when a worker settles many jobs at once', async () => {
    const { queue } = await setup({ clock: 'real' })
    // Plain jobs of one name a call, which a worker claims and acks by the fast path.
    for (let round = 0; round < 3; round++) {
      await queue.enqueue('mail', { to })
      await queue.enqueue('image', { url: 'a' })
    }

    await using _worker = queue.work({ mail: () => undefined, image: () => undefined }, { concurrency: 6 })
    await until(async () => (await queue.inspect()).acked === 6)

    expect((await queue.stats()).total).toMatchObject({ wait: { count: 6 }, run: { count: 6 } })
    for (const name of ['mail', 'image'] as const) {
      const { total } = await queue.stats({ name })
      expect(total).toMatchObject({ acked: 3, wait: { count: 3 }, run: { count: 3 } })
    }
  })

  test('is reported by name', async () => {
    const { queue, clock } = await setup()
    await queue.enqueueMany([
      { name: 'mail', payload: { to } },
      { name: 'image', payload: { url: 'a' } },
    ])
    await clock.advance(100)
    const jobs = await queue.claim({ limit: 2 })
    await clock.advance(5)
    await jobs.find(({ name }) => name === 'image')?.ack()

    expect(await queue.names()).toEqual(['mail', 'image'])
    expect((await queue.stats({ name: 'mail' })).total).toMatchObject({ acked: 0, wait: { count: 1 } })
    const { total } = await queue.stats({ name: 'image' })
    expect(total).toMatchObject({ acked: 1, run: { count: 1, meanMs: 5, p50Ms: 5, maxMs: 5 } })
    expect((await queue.stats({ name: 'other' })).total).toMatchObject({ acked: 0, wait: { count: 0 } })
  })

  test('is empty for a queue that does not exist', async () => {
    const { queue } = await setup()
    const nothing = { count: 0, meanMs: 0, p50Ms: 0, p90Ms: 0, p99Ms: 0, maxMs: 0 }

    expect((await queue.stats({ last: 2 })).periods).toMatchObject([
      { enqueued: 0, wait: nothing, run: nothing },
      { enqueued: 0 },
    ])
    expect(await queue.names()).toEqual([])
  })

  test('is kept in the hour and the day when its minutes have expired', async () => {
    const { queue, clock } = await setup()
    for (let hour = 0; hour < 30; hour++) {
      await queue.enqueue('mail', { to })
      await clock.advance(1000)
      await (await queue.claim())[0]?.ack()
      await clock.advance(3_599_000)
    }

    const hours = await queue.stats({ by: 'hour' })
    const days = await queue.stats({ by: 'day', last: 2 })

    expect((await queue.stats()).total.acked).toBe(1)
    expect(hours.total).toMatchObject({ enqueued: 30, acked: 30, wait: { count: 30, meanMs: 1000 } })
    expect(hours.periods.filter(({ acked }) => acked === 1)).toHaveLength(30)
    expect(days.periods.map(({ atMs, enqueued }) => [atMs % DAY_MS, enqueued])).toEqual([
      [0, 16],
      [0, 14],
    ])
  })
})

describe('periods', () => {
  test('are selected by time', async () => {
    const { queue, clock } = await setup()
    await queue.enqueue('mail', { to })
    const beganAtMs = (await queue.settings.inspect()).nowMs
    await clock.advance(600_000)
    await queue.enqueue('mail', { to })

    const { periods } = await queue.stats({ from: beganAtMs, to: beganAtMs + 120_000 })

    expect(periods.map(({ atMs, enqueued }) => [atMs - beganAtMs, enqueued])).toEqual([
      [0, 1],
      [60_000, 0],
      [120_000, 0],
    ])
    expect((await queue.stats({ from: beganAtMs + 3_600_000 })).periods).toEqual([])
  })

  test('that are invalid are rejected', async () => {
    const { queue } = await setup()

    await expect(queue.stats({ last: 121 })).rejects.toThrow(InvalidArgumentError)
    await expect(queue.stats({ by: 'day', last: 0 })).rejects.toThrow(
      'last must be a whole number from 1 to 90',
    )
    await expect(queue.stats({ by: 'week' as 'day' })).rejects.toThrow('by must be one of minute, hour, day')
    await expect(queue.stats({ name: '' })).rejects.toThrow(InvalidArgumentError)
    await expect(queue.stats({ from: 1.5 })).rejects.toThrow(InvalidArgumentError)
  })
})

test('statistics of an unused queue are removed when their last day has expired', async () => {
  const { queue, client, name } = await setup()
  const parts = ['notes', 'stats'].map((part) => `queue-test:{queue:${name}}:${part}`)
  const days = async () => (await Promise.all(parts.map((key) => client.pttl(key)))).map((ms) => ms / DAY_MS)
  const jobs = (from: number) =>
    Array.from({ length: 1000 }, (_, at) => ({ name: `job ${from + at}`, payload: at }) as never)

  await queue.enqueue('mail', { to: 'customer' })
  expect((await days())[0]).toBeGreaterThan(90)
  // This many names fill the notes.
  await queue.enqueueMany(jobs(0))
  expect((await days())[1]).toBeGreaterThan(90)
})
