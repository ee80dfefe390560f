import { describe, expect, test } from 'vitest'
import { begin, guessed, MINUTE, refusalOf, SECOND } from './fixture.ts'

describe('TestRetries', () => {
  test('test_basic: a lease that ends costs an attempt, and the maximum of attempts stays', async () => {
    const { queue, putAndPop, pop, clock } = await begin()
    await putAndPop('a', { maxAttempts: 5 })
    await clock.advance(MINUTE)
    await pop()

    expect(await queue.jobs.get('a')).toMatchObject({ attempts: 2, maxAttempts: 5 })
  })

  test('test_move_failed_retries: a job without attempts left is dead, and requeued it is ready again', async () => {
    const { queue, putAndPop, pop, popIds, clock, stateOf } = await begin()
    await putAndPop('a', { maxAttempts: 1 })
    await clock.advance(MINUTE)
    expect([await pop(), await stateOf('a')]).toEqual([[], 'dead'])

    await queue.jobs.requeue(['a'])

    expect(await popIds()).toEqual(['a'])
  })

  test('test_reset_complete: the attempts of the successor count from the start', async () => {
    const { putAndPop, pop, clock } = await begin()
    await putAndPop('a', { maxAttempts: 5 })
    await clock.advance(MINUTE)
    const [second] = await pop()
    await second?.ackAndEnqueue({ name: 'mail', payload: { to: 'b' }, id: 'b', maxAttempts: 5 })

    expect(await pop()).toMatchObject([{ id: 'b', attempt: 1, maxAttempts: 5 }])
  })

  test('test_reset_move: the attempts of a job that is requeued count from the start', async () => {
    const { queue, putAndPop, pop, clock } = await begin()
    await putAndPop('a', { maxAttempts: 5 })
    await clock.advance(MINUTE)
    const [second] = await pop()
    expect(second?.attempt).toBe(2)
    await second?.fail()
    await queue.jobs.requeue(['a'])

    expect(await pop()).toMatchObject([{ id: 'a', attempt: 1, maxAttempts: 5 }])
  })
})

describe('TestRetry', () => {
  test.each([
    ['delay', { delay: 'soon' }],
    ['delay', { delay: '-1s' }],
    ['delay', { delay: 5 }],
    ['kind', { kind: '' }],
    ['kind', { kind: 'k'.repeat(201) }],
    ['options.worker', { worker: 'w' }],
    ['options', null],
  ])('test_malformed: a retry names the wrong argument: %s %j', async (argument, options) => {
    const { putAndPop } = await begin()
    const job = await putAndPop('a')

    expect(await refusalOf(async () => job.retry(options as never))).toBe(argument)

    expect(job.isClaimed).toBe(true)
  })

  test('test_retry_waiting: a job that is not claimed cannot be retried', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')

    expect(await queue.byToken.retry([guessed('a')])).toMatchObject([{ outcome: 'lost' }])

    expect(await stateOf('a')).toBe('ready')
  })

  test('test_retry_completed: a done job cannot be retried', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    await queue.settings.set({ retention: { count: 1 } })
    const { id, token } = await putAndPop('a')
    await queue.byToken.ack([{ id, token }])

    expect(await queue.byToken.retry([{ id, token }])).toEqual([{ outcome: 'lost', reason: 'acked' }])

    expect(await stateOf('a')).toBe('done')
  })

  test('test_retry_failed: a dead job is not retried; its attempt gets the answer that it is dead', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    const { id, token } = await putAndPop('a')
    await queue.byToken.fail([{ id, token, kind: 'BadAddress' }])

    expect(await queue.byToken.retry([{ id, token }])).toEqual([{ outcome: 'dead' }])

    expect(await stateOf('a')).toBe('dead')
    expect(await queue.dead.list()).toMatchObject([{ kind: 'BadAddress', count: 1 }])
  })

  test('test_retry_otherowner: an attempt that has lost its job cannot retry it', async () => {
    const { putAndPop, pop, clock, stateOf } = await begin()
    const first = await putAndPop('a')
    await clock.advance(MINUTE)
    await pop()

    expect(await refusalOf(first.retry())).toBe('lost')

    expect(await stateOf('a')).toBe('claimed')
  })

  test.each([
    ['test_retry_complete', 'ack'],
    ['test_retry_fail', 'fail'],
    ['test_retry_heartbeat', 'extend'],
  ] as const)('%s: after a retry the attempt has no %s any more', async (_, call) => {
    const { queue, putAndPop, stateOf } = await begin()
    const { id, token } = await putAndPop('a', { backoff: 'none' })
    await queue.byToken.retry([{ id, token }])

    const answer = await queue.byToken[call]([{ id, token }])

    expect('jobs' in answer ? answer.jobs : answer).toEqual([{ outcome: 'lost', reason: 'retried' }])
    expect(await stateOf('a')).toBe('ready')
  })

  test('test_retry_nonexistent: an unknown job cannot be retried', async () => {
    const { queue } = await begin()

    expect(await queue.byToken.retry([guessed('a')])).toEqual([{ outcome: 'lost', reason: 'absent' }])
  })

  test('test_retry_group_message: the last retry decides of what the job is dead', async () => {
    const { queue, putAndPop, pop } = await begin()
    const failure = { kind: 'Throttled', message: 'come back later' }
    expect(await (await putAndPop('a', { maxAttempts: 2, backoff: 'none' })).retry(failure)).toBe('retried')
    expect(await (await pop())[0]?.retry(failure)).toBe('dead')

    expect(await queue.jobs.get('a')).toMatchObject({ state: 'dead', attempts: 2, failure })
    expect(await queue.dead.list()).toMatchObject([{ kind: 'Throttled', count: 1 }])
  })

  test('test_retry_delay: a retry with a delay is scheduled, and not claimed before', async () => {
    const { putAndPop, popIds, clock, stateOf } = await begin()
    await (await putAndPop('a')).retry({ delay: '10s' })

    expect(await stateOf('a')).toBe('scheduled')
    await clock.advance(10 * SECOND - 1)
    expect(await popIds()).toEqual([])
    await clock.advance(1)

    expect(await popIds()).toEqual(['a'])
  })

  test('test_retry_wrong_queue: a job is retried in its own queue only', async () => {
    const { putAndPop, another, stateOf } = await begin()
    const { id, token } = await putAndPop('a')

    expect(await (await another()).byToken.retry([{ id, token }])).toEqual([
      { outcome: 'lost', reason: 'absent' },
    ])

    expect(await stateOf('a')).toBe('claimed')
  })

  test('test_retry_failed_retries: after its last retry a job is dead, of the kind `retried`', async () => {
    const { queue, put, pop } = await begin()
    await put('a', { maxAttempts: 3, backoff: 'none' })
    const outcomes: unknown[] = []
    for (let attempt = 1; attempt <= 3; attempt++) outcomes.push(await (await pop())[0]?.retry())

    expect(outcomes).toEqual(['retried', 'retried', 'dead'])
    expect(await queue.dead.list()).toMatchObject([{ kind: 'retried', count: 1 }])
  })
})
