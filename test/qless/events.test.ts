import { describe, expect, test } from 'vitest'
import { begin, hear, SECOND, until } from './fixture.ts'

describe('TestEvents', () => {
  test('test_track: an event reports that a job is tracked, and that it is no longer', async () => {
    const place = await begin()
    await place.put('a')
    const heard = await hear(place)

    await place.queue.jobs.track('a')
    await place.queue.jobs.untrack('a')

    expect(await heard.first(2)).toEqual(['a tracked', 'a untracked'])
  })

  test('test_track_canceled: a listener to tracked jobs gets the cancel event of one, and no events of others', async () => {
    const place = await begin()
    await place.put('other')
    await place.put('a')
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })

    await place.queue.jobs.cancel(['other', 'a'])

    expect(await heard.first(1)).toEqual(['a cancelled'])
  })

  test('test_track_completed: a listener to tracked jobs gets the event that one is done', async () => {
    const place = await begin()
    const job = await place.putAndPop('a')
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })

    await job.ack()

    expect(await heard.first(1)).toEqual(['a acked'])
  })

  test('test_track_fail: a listener to tracked jobs gets the event that one is dead, with the failure', async () => {
    const place = await begin()
    const job = await place.putAndPop('a')
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })

    await job.fail({ kind: 'BadAddress' })

    expect(await heard.first(1)).toEqual(['a dead'])
    expect(heard.events).toMatchObject([{ more: 'BadAddress', isTracked: true }])
  })

  test('test_track_popped: a listener to tracked jobs gets the event that one was claimed', async () => {
    const place = await begin()
    await place.put('a')
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })

    const [job] = await place.pop()

    expect(await heard.first(1)).toEqual(['a claimed'])
    expect(heard.events).toMatchObject([{ attempt: 1, token: job?.token }])
  })

  test('test_track_put: a listener to tracked jobs gets the event that one is ready again', async () => {
    const place = await begin()
    await place.put('a', { delay: '1h' })
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })

    await place.queue.jobs.requeue(['a'])

    expect(await heard.first(1)).toEqual(['a requeued'])
  })

  test('test_track_stalled: a listener to tracked jobs gets the event that the lease of one ended', async () => {
    const place = await begin()
    await place.put('a')
    await place.pop({ lease: '1s' })
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })
    await place.clock.advance(SECOND)

    await place.pop()

    expect(await heard.first(2)).toEqual(['a reclaimed', 'a claimed'])
  })

  test('test_failed_retries: a job that dies of its last retry is reported as dead', async () => {
    const place = await begin()
    const job = await place.putAndPop('a', { maxAttempts: 1 })
    const heard = await hear(place)

    await job.retry({ kind: 'Throttled' })

    expect(await heard.first(1)).toEqual(['a dead'])
    expect(heard.events).toMatchObject([{ more: 'Throttled' }])
  })

  test('test_failed_retries_tracked: a tracked job that dies of its last lease is reported as dead', async () => {
    const place = await begin()
    await place.put('a', { maxAttempts: 1 })
    await place.pop({ lease: '1s' })
    await place.queue.jobs.track('a')
    const heard = await hear(place, { tracked: true })
    await place.clock.advance(SECOND)

    await place.pop()

    expect(await heard.first(1)).toEqual(['a dead'])
    expect(heard.events).toMatchObject([{ more: 'lost' }])
  })

  test('test_advance: events report that a job is done, and then its successor', async () => {
    const place = await begin()
    const job = await place.putAndPop('a')
    const heard = await hear(place)

    await job.ackAndEnqueue({ name: 'mail', payload: { to: 'b' }, id: 'b' })

    expect(await heard.first(2)).toEqual(['a acked', 'b enqueued'])
  })

  test('test_timeout: no call takes a lease away; an event reports its end at the next claim', async () => {
    const place = await begin()
    await place.put('a')
    await place.pop({ lease: '1s' })
    const heard = await hear(place)

    expect(await place.queue.jobs.requeue(['a'])).toEqual(['claimed'])
    await place.clock.advance(SECOND)
    await place.pop()

    expect(await heard.first(2)).toEqual(['a reclaimed', 'a claimed'])
  })

  test('test_put: an event reports a new job', async () => {
    const place = await begin()
    const heard = await hear(place)

    await place.put('a')

    expect(await heard.first(1)).toEqual(['a enqueued'])
    expect(heard.events).toMatchObject([{ name: 'mail', attempt: null, token: null }])
  })

  test('test_reput: a job that is put again while it is claimed stays with its worker, and there is no event', async () => {
    const place = await begin()
    const job = await place.putAndPop('a')
    const heard = await hear(place)

    await place.put('a')
    await job.extend('1m')
    await job.ack()

    expect(await heard.first(1)).toEqual(['a acked'])
  })

  test.each([
    ['test_config_set', { concurrency: 5 }, 5],
    ['test_config_unset', { concurrency: null }, 0],
  ] as const)('%s: settings cause no events; inspect shows them', async (_, settings, limit) => {
    const place = await begin()
    await place.queue.settings.set({ concurrency: 3 })
    const heard = await hear(place)

    await place.queue.settings.set(settings)
    await place.put('a')

    expect(await heard.first(1)).toEqual(['a enqueued'])
    expect(await place.queue.inspect()).toMatchObject({ concurrency: limit })
  })

  test.each([
    ['test_cancel_waiting', 'ready', {}],
    ['test_cancel_depends', 'blocked', { dependsOn: ['dependency'] }],
    ['test_cancel_scheduled', 'scheduled', { delay: '1h' }],
  ] as const)('%s: an event reports that a job that is %s was cancelled', async (_, state, options) => {
    const place = await begin()
    await place.put('dependency')
    await place.put('a', options)
    expect(await place.stateOf('a')).toBe(state)
    const heard = await hear(place)

    await place.queue.jobs.cancel(['a'])

    expect(await heard.first(1)).toEqual(['a cancelled'])
  })

  test('test_cancel_running: an event reports that a job is to stop, and its worker learns it when it extends', async () => {
    const place = await begin()
    const job = await place.putAndPop('a')
    const heard = await hear(place)

    await place.queue.jobs.cancel(['a'])
    await expect(job.extend('1m')).rejects.toThrow('cancelled')

    expect(await heard.first(1)).toEqual(['a stopping'])
  })

  test('test_cancel_failed: an event reports that a dead job was cancelled', async () => {
    const place = await begin()
    await (await place.putAndPop('a')).fail()
    const heard = await hear(place)

    await place.queue.jobs.cancel(['a'])

    expect(await heard.first(1)).toEqual(['a cancelled'])
  })

  test('test_move_lock: a job that its own worker advances causes no event of a lost lease', async () => {
    const place = await begin()
    const next = await place.another()
    const job = await place.putAndPop('a')
    const heard = await hear(place)

    await job.ackAndEnqueue({ queue: next.name, name: 'mail', payload: { to: 'b' } })
    await until(async () => (await next.inspect()).ready === 1)
    await place.put('last')

    expect(await heard.first(2)).toEqual(['a acked', 'last enqueued'])
  })
})
