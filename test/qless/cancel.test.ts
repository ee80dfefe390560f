import { describe, expect, test } from 'vitest'
import { begin, MINUTE, refusalOf } from './fixture.ts'

describe('TestCancel', () => {
  test.each([
    ['test_cancel_waiting', 'ready', {}],
    ['test_cancel_depends', 'blocked', { dependsOn: ['dependency'] }],
    ['test_cancel_scheduled', 'scheduled', { delay: '1h' }],
  ] as const)('%s: a job that is %s is removed at once', async (_, state, options) => {
    const { queue, put, stateOf, popIds } = await begin()
    await put('dependency')
    await put('a', options)
    expect(await stateOf('a')).toBe(state)

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect([await stateOf('a'), await popIds(10)]).toEqual(['absent', ['dependency']])
  })

  test('test_cancel_dependents: a job with dependents may be cancelled, and they die with it', async () => {
    const { queue, put } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'] })

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect(await queue.jobs.get('b')).toMatchObject({ state: 'dead', failure: { kind: 'dependency-failed' } })
  })

  test('test_cancel_nonexistent: an unknown job is reported as absent', async () => {
    const { queue } = await begin()

    expect(await queue.jobs.cancel(['a'])).toEqual(['absent'])
  })

  test('test_cancel_failed: a dead job is removed, and no longer counted among failures', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    await (await putAndPop('a')).fail({ kind: 'BadAddress' })

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect([await stateOf('a'), await queue.dead.list()]).toEqual(['absent', []])
  })

  test('test_cancel_running: a running job is asked to stop: it can no longer be extended, and its ack removes it', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    const job = await putAndPop('a')

    expect(await queue.jobs.cancel(['a'])).toEqual(['stopping'])
    expect(await refusalOf(job.extend('1m'))).toBe('cancelled')
    const { id, token } = job
    expect(await queue.byToken.ack([{ id, token }])).toEqual([{ outcome: 'lost', reason: 'cancelled' }])

    expect(await stateOf('a')).toBe('absent')
  })

  test('test_cancel_retries: a job that died of its last retry may be cancelled', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    expect(await (await putAndPop('a', { maxAttempts: 1 })).retry()).toBe('dead')

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect([await stateOf('a'), await queue.dead.list()]).toEqual(['absent', []])
  })

  test('test_cancel_pop_retries: a job that died when its last lease ended may be cancelled', async () => {
    const { queue, putAndPop, pop, clock, stateOf } = await begin()
    await putAndPop('a', { maxAttempts: 1 })
    await clock.advance(MINUTE)
    await pop()
    expect(await stateOf('a')).toBe('dead')

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect([await stateOf('a'), await queue.dead.list()]).toEqual(['absent', []])
  })
})
