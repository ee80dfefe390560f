import { describe, expect, test } from 'vitest'
import { begin, HOUR, MINUTE, until, verbsOf } from './fixture.ts'

const mail = { name: 'mail', payload: { to: 'ada' } } as const

describe('TestQueue', () => {
  test('test_stalled: jobs whose lease ended are counted as overdue, in their old place, until the next claim', async () => {
    const { putAndPop, pop, count, clock } = await begin()
    await putAndPop('a')
    expect([await count('claimed'), await count('overdue')]).toEqual([1, 0])

    await clock.advance(MINUTE)
    expect([await count('claimed'), await count('overdue')]).toEqual([1, 1])
    await pop()

    expect([await count('claimed'), await count('overdue')]).toEqual([1, 0])
  })

  test('test_waiting: ready jobs are counted', async () => {
    const { put, count } = await begin()
    expect(await count('ready')).toBe(0)
    await put('a')
    await put('b', { priority: 5 })
    await put('c', { group: 'g' })

    expect(await count('ready')).toBe(3)
  })

  test('test_running: claimed jobs are counted', async () => {
    const { putAndPop, count } = await begin()
    const job = await putAndPop('a')
    expect([await count('ready'), await count('claimed')]).toEqual([0, 1])

    await job.ack()

    expect(await count('claimed')).toBe(0)
  })

  test('test_depends: blocked jobs are counted', async () => {
    const { put, pop, count } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'] })
    expect([await count('ready'), await count('blocked')]).toEqual([1, 1])

    await (await pop())[0]?.ack()

    expect([await count('ready'), await count('blocked')]).toEqual([1, 0])
  })

  test('test_scheduled: scheduled jobs are counted', async () => {
    const { put, count } = await begin()
    await put('a', { delay: '1m' })

    expect([await count('ready'), await count('scheduled')]).toEqual([0, 1])
  })

  test('test_recurring: recurring jobs are listed, and count as no job before they run', async () => {
    const { queue, count } = await begin()
    await queue.recurring.set('a', { ...mail, every: '1m' })

    expect((await queue.recurring.list()).recurring).toHaveLength(1)
    expect([await count('ready'), await count('scheduled'), await count('overdue')]).toEqual([0, 0, 0])
  })

  test('test_recurring_offset: a recurring job whose first run is far in the future is listed, too', async () => {
    const { queue, count } = await begin()
    await queue.recurring.set('a', { ...mail, every: '100d', offset: '7d' })

    expect((await queue.recurring.list()).recurring).toHaveLength(1)
    expect(await count('scheduled')).toBe(0)
  })

  test('test_pause: a paused queue hands out nothing, and its jobs once it is resumed', async () => {
    const { queue, put, popIds } = await begin()
    await put('a')
    await queue.settings.pause()
    expect([await popIds(), (await queue.inspect()).paused]).toEqual([[], true])

    await queue.settings.resume()

    expect([await popIds(), (await queue.inspect()).paused]).toEqual([['a'], false])
  })

  test('test_advance: a queue begins with the job that is advanced into it', async () => {
    const { putAndPop, another } = await begin()
    const next = await another()
    expect(await next.inspect()).toMatchObject({ beganAtMs: null, ready: 0 })

    await (await putAndPop('a')).ackAndEnqueue({ queue: next.name, ...mail })
    await until(async () => (await next.inspect()).ready === 1)

    expect((await next.inspect()).beganAtMs).toBeGreaterThan(0)
  })

  test('test_recurring_move: a recurring job is moved by setting it there and removing it here', async () => {
    const { queue, another, clock, popIds } = await begin()
    const next = await another()
    await queue.recurring.set('a', { ...mail, every: '1h' })

    await next.recurring.set('a', { ...mail, every: '1h' })
    await queue.recurring.remove('a')
    await clock.advance(HOUR)

    expect([await popIds(), (await verbsOf(next).popIds()).length]).toEqual([[], 1])
  })

  test('test_scheduled_waiting: a job that is due is counted as overdue, and as ready after the next claim', async () => {
    const { put, pop, count, clock } = await begin()
    await put('a', { delay: '1m' })
    await put('b', { delay: '1m' })
    await clock.advance(MINUTE)
    expect([await count('scheduled'), await count('overdue'), await count('ready')]).toEqual([2, 2, 0])

    await pop()

    expect([await count('scheduled'), await count('overdue'), await count('ready')]).toEqual([0, 0, 1])
  })
})
