import { describe, expect, test } from 'vitest'
import { begin, guessed, MINUTE, type Place, refusalOf, START_MS } from './fixture.ts'

/** What becomes of a job that a caller fails without holding it. */
async function failGuessed({ queue, stateOf }: Place, id: string): Promise<[string, string]> {
  const [settled] = await queue.byToken.fail([guessed(id)])
  return [settled?.outcome ?? '', await stateOf(id)]
}

describe('TestFail', () => {
  test.each([
    ['kind', { kind: '' }],
    ['kind', { kind: 'k'.repeat(201) }],
    ['kind', { kind: 7 }],
    ['options.group', { group: 'g' }],
    ['options', 'odd'],
  ])('test_malformed: a rejected failure names the wrong argument: %s %j', async (argument, options) => {
    const { putAndPop, stateOf } = await begin()
    const job = await putAndPop('a')

    expect(await refusalOf(async () => job.fail(options as never))).toBe(argument)

    expect([await stateOf('a'), job.isClaimed]).toEqual(['claimed', true])
  })

  test('test_basic: a failed job is dead, with the time and the failure', async () => {
    const { queue, putAndPop } = await begin()

    await (await putAndPop('a')).fail({ kind: 'BadAddress', message: 'no @ in it' })

    const failure = { atMs: START_MS, kind: 'BadAddress', message: 'no @ in it' }
    expect(await queue.jobs.get('a')).toMatchObject({ state: 'dead', atMs: START_MS, attempts: 1, failure })
  })

  test('test_put: a dead job is ready again when it is requeued; put again it is a duplicate', async () => {
    const { queue, put, putAndPop, popIds, stateOf } = await begin()
    await (await putAndPop('a')).fail()

    await put('a')
    expect(await stateOf('a')).toBe('dead')
    expect(await queue.jobs.requeue(['a'])).toEqual(['requeued'])

    expect(await popIds()).toEqual(['a'])
  })

  test('test_fail_waiting: a job that is not claimed cannot be failed', async () => {
    const place = await begin()
    await place.put('a')

    expect(await failGuessed(place, 'a')).toEqual(['lost', 'ready'])
  })

  test('test_fail_depends: a blocked job cannot be failed', async () => {
    const place = await begin()
    await place.put('dependency')
    await place.put('a', { dependsOn: ['dependency'] })

    expect(await failGuessed(place, 'a')).toEqual(['lost', 'blocked'])
  })

  test('test_fail_scheduled: a scheduled job cannot be failed', async () => {
    const place = await begin()
    await place.put('a', { delay: '1m' })

    expect(await failGuessed(place, 'a')).toEqual(['lost', 'scheduled'])
  })

  test('test_fail_nonexistent: an unknown job cannot be failed', async () => {
    const { queue } = await begin()

    expect(await queue.byToken.fail([guessed('a')])).toEqual([{ outcome: 'lost', reason: 'absent' }])
  })

  test('test_fail_completed: a job that is done cannot be failed, not even by its worker', async () => {
    const { queue, putAndPop, stateOf } = await begin()
    await queue.settings.set({ retention: { count: 1 } })
    const { token, ...job } = await putAndPop('a')
    await queue.byToken.ack([{ id: 'a', token }])

    expect(await queue.byToken.fail([{ id: job.id, token }])).toEqual([{ outcome: 'lost', reason: 'acked' }])

    expect(await stateOf('a')).toBe('done')
  })

  test('test_fail_owner: an attempt that has lost its job cannot fail it', async () => {
    const { putAndPop, pop, clock, stateOf } = await begin()
    const first = await putAndPop('a')
    await clock.advance(MINUTE)
    const [second] = await pop()

    expect(await refusalOf(first.fail())).toBe('lost')

    expect([await stateOf('a'), second?.attempt]).toEqual(['claimed', 2])
  })
})

describe('TestFailed', () => {
  test.each([
    ['state', ({ jobs }: Place['queue']) => jobs.list('failed' as never)],
    ['limit', ({ jobs }: Place['queue']) => jobs.list('dead', { limit: 0 })],
    ['limit', ({ jobs }: Place['queue']) => jobs.list('dead', { limit: 1001 })],
    ['after', ({ jobs }: Place['queue']) => jobs.list('dead', { after: 'here' })],
    ['kind', ({ dead }: Place['queue']) => dead.requeue('')],
    ['kind', ({ dead }: Place['queue']) => dead.drop('k'.repeat(201))],
  ])('test_malformed: a list of dead jobs names the wrong argument: %s', async (argument, look) => {
    const { queue } = await begin()

    expect(await refusalOf(async () => look(queue))).toBe(argument)
  })

  test('test_basic: dead jobs are counted by the kind of their failure, and listed', async () => {
    const { queue, putAndPop } = await begin()
    await (await putAndPop('a')).fail({ kind: 'BadAddress' })
    await (await putAndPop('b')).fail({ kind: 'BadAddress', message: 'also bad' })
    await (await putAndPop('c')).fail({ kind: 'Throttled' })

    const failures = await queue.dead.list()

    expect(new Map(failures.map(({ kind, count }) => [kind, count]))).toEqual(
      new Map([
        ['BadAddress', 2],
        ['Throttled', 1],
      ]),
    )
    expect(failures.find(({ kind }) => kind === 'BadAddress')?.sample.message).toBe('also bad')
    expect((await queue.jobs.list('dead')).jobs.map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c'])
  })

  test('test_retries: a job whose attempts were all lost is dead of the kind `lost`', async () => {
    const { queue, putAndPop, pop, clock } = await begin()
    await putAndPop('a', { maxAttempts: 1 })
    await clock.advance(MINUTE)

    expect(await pop()).toEqual([])

    expect(await queue.dead.list()).toMatchObject([{ kind: 'lost', count: 1 }])
  })

  test('test_failed_pagination: dead jobs are listed page by page', async () => {
    const { queue, putAndPop } = await begin()
    for (const id of ['a', 'b', 'c', 'd', 'e']) await (await putAndPop(id)).fail()

    const pages: string[][] = []
    for (let after: string | null = '0'; after !== null; ) {
      const { jobs, next } = await queue.jobs.list('dead', { after, limit: 2 })
      pages.push(jobs.map(({ id }) => id))
      after = next
    }

    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
    expect(pages.flat().toSorted()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})

describe('TestUnfailed', () => {
  test('test_basic: all jobs that are dead of one kind are ready again, those of others stay dead', async () => {
    const { queue, putAndPop, popIds } = await begin()
    for (const id of ['a', 'b']) await (await putAndPop(id)).fail({ kind: 'Throttled' })
    await (await putAndPop('c')).fail({ kind: 'BadAddress' })

    expect(await queue.dead.requeue('Throttled')).toBe(2)

    expect((await popIds(10)).toSorted()).toEqual(['a', 'b'])
    expect(await queue.dead.list()).toMatchObject([{ kind: 'BadAddress', count: 1 }])
  })
})
