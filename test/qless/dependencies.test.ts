import { describe, expect, test } from 'vitest'
import { begin, SECOND } from './fixture.ts'

describe('TestDependencies', () => {
  test('test_unlock: a job becomes ready when its dependency is done', async () => {
    const { put, pop, popIds, stateOf } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'] })

    const [a, ...others] = await pop({ limit: 10 })
    expect([a?.id, others, await stateOf('b')]).toEqual(['a', [], 'blocked'])
    await a?.ack()

    expect(await popIds()).toEqual(['b'])
  })

  test('test_unlock_with_delay: its delay begins when its dependency is done', async () => {
    const { put, putAndPop, popIds, stateOf, clock } = await begin()
    const a = await putAndPop('a')
    await put('b', { dependsOn: ['a'], delay: '10s' })
    await clock.advance(20 * SECOND)
    await a.ack()

    expect([await stateOf('b'), await popIds()]).toEqual(['scheduled', []])
    await clock.advance(10 * SECOND)

    expect(await popIds()).toEqual(['b'])
  })

  test('test_unlock_with_delay_satisfied: with a done dependency and a delay it is scheduled at once', async () => {
    const { put, putAndPop, stateOf } = await begin()
    await (await putAndPop('a')).ack()

    await put('b', { dependsOn: ['a'], delay: '10s' })

    expect(await stateOf('b')).toBe('scheduled')
  })

  test('test_complete_depends_with_delay: a successor may have dependencies and a delay', async () => {
    const { put, putAndPop, pop, stateOf } = await begin()
    const a = await putAndPop('a')
    await put('b')
    await a.ackAndEnqueue({ name: 'mail', payload: { to: 'c' }, id: 'c', dependsOn: ['b'], delay: '10s' })
    expect(await stateOf('c')).toBe('blocked')

    await (await pop())[0]?.ack()

    expect(await stateOf('c')).toBe('scheduled')
  })

  test('test_complete_depends: a successor may have dependencies', async () => {
    const { put, putAndPop, pop, popIds, stateOf } = await begin()
    const a = await putAndPop('a')
    await put('b')
    await a.ackAndEnqueue({ name: 'mail', payload: { to: 'c' }, id: 'c', dependsOn: ['b'] })
    expect(await stateOf('c')).toBe('blocked')

    await (await pop())[0]?.ack()

    expect(await popIds()).toEqual(['c'])
  })

  test('test_satisfied_dependencies: a job with done dependencies is ready at once, kept or not', async () => {
    const { queue, put, putAndPop, popIds } = await begin()
    await (await putAndPop('gone')).ack()
    await queue.settings.set({ retention: { count: 1 } })
    await (await putAndPop('kept')).ack()

    await put('dependent', { dependsOn: ['gone', 'kept'] })

    expect(await popIds()).toEqual(['dependent'])
  })

  test('test_nonexistent_dependencies: an unknown dependency is taken as done', async () => {
    const { put, popIds } = await begin()

    await put('dependent', { dependsOn: ['never there'] })

    expect(await popIds()).toEqual(['dependent'])
  })

  test('test_cancel_dependency_chain: a chain that is cancelled in one call is removed', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'] })

    expect(await queue.jobs.cancel(['a', 'b'])).toEqual(['cancelled', 'cancelled'])

    expect([await stateOf('a'), await stateOf('b')]).toEqual(['absent', 'absent'])
  })

  test('test_cancel_incomplete_chain: a dependency may be cancelled alone; its dependent decides what follows', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    for (const onDependencyFailure of ['fail', 'cancel', 'run'] as const) {
      await put(onDependencyFailure, { dependsOn: ['a'], onDependencyFailure })
    }

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect([await stateOf('fail'), await stateOf('cancel'), await stateOf('run')]).toEqual([
      'dead',
      'absent',
      'ready',
    ])
  })

  test('test_cancel_with_missing_jobs: removed jobs are reported as absent, and do not block others', async () => {
    const { queue, put } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'] })
    await queue.jobs.cancel(['b'])

    expect(await queue.jobs.cancel(['b', 'a', 'never there'])).toEqual(['absent', 'cancelled', 'absent'])
  })

  test('test_cancel_any_order: a chain may be cancelled in any order', async () => {
    const { queue, put, count } = await begin()
    for (const order of ['a b c', 'a c b', 'b a c', 'b c a', 'c a b', 'c b a']) {
      await put('a')
      await put('b', { dependsOn: ['a'] })
      await put('c', { dependsOn: ['b'] })

      expect(await queue.jobs.cancel(order.split(' ')), order).toEqual(Array(3).fill('cancelled'))
    }
    expect([await count('ready'), await count('blocked'), await count('dead')]).toEqual([0, 0, 0])
  })

  test('test_multiple_dependency: a job waits until the last of its dependencies is done', async () => {
    const { put, pop, popIds, stateOf } = await begin()
    const dependencies = ['a', 'b', 'c']
    for (const id of dependencies) await put(id)
    await put('dependent', { dependsOn: dependencies })

    for (const job of await pop({ limit: 3 })) {
      expect(await stateOf('dependent')).toBe('blocked')
      await job.ack()
    }

    expect(await popIds()).toEqual(['dependent'])
  })

  test('test_dependency_chain: a chain is done one job after the other', async () => {
    const { put, pop } = await begin()
    const chain = ['a', 'b', 'c', 'd']
    await put('a')
    for (const [at, id] of chain.slice(1).entries()) await put(id, { dependsOn: [chain[at] ?? ''] })

    for (const id of chain) {
      const jobs = await pop({ limit: 10 })
      expect(jobs.map((job) => job.id)).toEqual([id])
      await jobs[0]?.ack()
    }
  })

  test('test_add_dependency: a blocked job may be given more dependencies', async () => {
    const { queue, put, pop, popIds, stateOf } = await begin()
    await put('a')
    await put('b')
    await put('dependent', { dependsOn: ['a'] })
    expect(await queue.jobs.addDependencies('dependent', ['b'])).toBe('changed')

    const [a, b] = await pop({ limit: 2 })
    await a?.ack()
    expect(await stateOf('dependent')).toBe('blocked')
    await b?.ack()

    expect(await popIds()).toEqual(['dependent'])
  })

  test('test_remove_dependency: dependencies may be taken from a blocked job; without any it is ready', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    await put('b')
    await put('dependent', { dependsOn: ['a', 'b'] })

    expect(await queue.jobs.removeDependencies('dependent', ['a'])).toBe('changed')
    expect(await stateOf('dependent')).toBe('blocked')
    expect(await queue.jobs.removeDependencies('dependent', ['b'])).toBe('changed')

    expect(await stateOf('dependent')).toBe('ready')
  })

  test('test_reput_dependency: a job that is put again keeps its dependencies; they are changed by name', async () => {
    const { queue, put } = await begin()
    await put('a')
    await put('b')
    await put('dependent', { dependsOn: ['a'] })
    const dependencies = async (): Promise<string[]> =>
      (await queue.jobs.dependencies('dependent')).map(({ id }) => id)

    await put('dependent', { dependsOn: ['b'] })
    expect(await dependencies()).toEqual(['a'])
    await queue.jobs.addDependencies('dependent', ['b'])
    await queue.jobs.removeDependencies('dependent', ['a'])

    expect(await dependencies()).toEqual(['b'])
  })

  test.each([
    ['test_depends_waiting', 'ready', {}, ''],
    ['test_depends_scheduled', 'scheduled', { delay: '1m' }, ''],
    ['test_depends_failed', 'dead', {}, 'fail'],
    ['test_depends_running', 'claimed', {}, 'claim'],
  ] as const)('%s: dependencies of a job that is %s cannot be changed', async (_, state, options, then) => {
    const { queue, put, pop, stateOf } = await begin()
    await put('dependent', options)
    const [job] = then === '' ? [] : await pop()
    if (then === 'fail') await job?.fail()
    await put('a')

    expect(await queue.jobs.addDependencies('dependent', ['a'])).toBe(state)
    expect(await queue.jobs.removeDependencies('dependent', ['a'])).toBe(state)

    expect([await stateOf('dependent'), await queue.jobs.dependencies('dependent')]).toEqual([state, []])
  })

  test('test_depends_nonexistent: dependencies of an unknown job cannot be changed', async () => {
    const { queue, put } = await begin()
    await put('a')

    expect(await queue.jobs.addDependencies('never there', ['a'])).toBe('absent')
    expect(await queue.jobs.removeDependencies('never there', ['a'])).toBe('absent')
  })
})
