import { describe, expect, test } from 'vitest'
import { begin, SECOND } from './fixture.ts'

describe('TestDependencies', () => {
  test('test_unlock: a job becomes ready when its parent is done', async () => {
    const { put, pop, popIds, stateOf } = await begin()
    await put('a')
    await put('b', { parents: ['a'] })

    const [a, ...others] = await pop({ limit: 10 })
    expect([a?.id, others, await stateOf('b')]).toEqual(['a', [], 'blocked'])
    await a?.ack()

    expect(await popIds()).toEqual(['b'])
  })

  test('test_unlock_with_delay: its delay begins when its parent is done', async () => {
    const { put, putAndPop, popIds, stateOf, clock } = await begin()
    const a = await putAndPop('a')
    await put('b', { parents: ['a'], delay: '10s' })
    await clock.advance(20 * SECOND)
    await a.ack()

    expect([await stateOf('b'), await popIds()]).toEqual(['scheduled', []])
    await clock.advance(10 * SECOND)

    expect(await popIds()).toEqual(['b'])
  })

  test('test_unlock_with_delay_satisfied: with a parent that is done and a delay it is scheduled at once', async () => {
    const { put, putAndPop, stateOf } = await begin()
    await (await putAndPop('a')).ack()

    await put('b', { parents: ['a'], delay: '10s' })

    expect(await stateOf('b')).toBe('scheduled')
  })

  test('test_complete_depends_with_delay: what follows a job may have parents and a delay', async () => {
    const { put, putAndPop, pop, stateOf } = await begin()
    const a = await putAndPop('a')
    await put('b')
    await a.advance({ name: 'mail', payload: { to: 'c' }, id: 'c', parents: ['b'], delay: '10s' })
    expect(await stateOf('c')).toBe('blocked')

    await (await pop())[0]?.ack()

    expect(await stateOf('c')).toBe('scheduled')
  })

  test('test_complete_depends: what follows a job may have parents', async () => {
    const { put, putAndPop, pop, popIds, stateOf } = await begin()
    const a = await putAndPop('a')
    await put('b')
    await a.advance({ name: 'mail', payload: { to: 'c' }, id: 'c', parents: ['b'] })
    expect(await stateOf('c')).toBe('blocked')

    await (await pop())[0]?.ack()

    expect(await popIds()).toEqual(['c'])
  })

  test('test_satisfied_dependencies: a job whose parents are done is ready at once, kept or not', async () => {
    const { queue, put, putAndPop, popIds } = await begin()
    await (await putAndPop('gone')).ack()
    await queue.settings.set({ keep: { count: 1 } })
    await (await putAndPop('kept')).ack()

    await put('child', { parents: ['gone', 'kept'] })

    expect(await popIds()).toEqual(['child'])
  })

  test('test_nonexistent_dependencies: a parent that is not known is taken for done', async () => {
    const { put, popIds } = await begin()

    await put('child', { parents: ['never there'] })

    expect(await popIds()).toEqual(['child'])
  })

  test('test_cancel_dependency_chain: a chain that is cancelled in one call is gone', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    await put('b', { parents: ['a'] })

    expect(await queue.jobs.cancel(['a', 'b'])).toEqual(['cancelled', 'cancelled'])

    expect([await stateOf('a'), await stateOf('b')]).toEqual(['absent', 'absent'])
  })

  test('test_cancel_incomplete_chain: a parent may be cancelled alone; its child says what becomes of it', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    for (const ifParentFails of ['bury', 'cancel', 'run'] as const) {
      await put(ifParentFails, { parents: ['a'], ifParentFails })
    }

    expect(await queue.jobs.cancel(['a'])).toEqual(['cancelled'])

    expect([await stateOf('bury'), await stateOf('cancel'), await stateOf('run')]).toEqual([
      'dead',
      'absent',
      'ready',
    ])
  })

  test('test_cancel_with_missing_jobs: those that are gone are told as absent, and hold up no other', async () => {
    const { queue, put } = await begin()
    await put('a')
    await put('b', { parents: ['a'] })
    await queue.jobs.cancel(['b'])

    expect(await queue.jobs.cancel(['b', 'a', 'never there'])).toEqual(['absent', 'cancelled', 'absent'])
  })

  test('test_cancel_any_order: a chain may be cancelled in any order', async () => {
    const { queue, put, count } = await begin()
    for (const order of ['a b c', 'a c b', 'b a c', 'b c a', 'c a b', 'c b a']) {
      await put('a')
      await put('b', { parents: ['a'] })
      await put('c', { parents: ['b'] })

      expect(await queue.jobs.cancel(order.split(' ')), order).toEqual(Array(3).fill('cancelled'))
    }
    expect([await count('ready'), await count('blocked'), await count('dead')]).toEqual([0, 0, 0])
  })

  test('test_multiple_dependency: a job waits until the last of its parents is done', async () => {
    const { put, pop, popIds, stateOf } = await begin()
    const parents = ['a', 'b', 'c']
    for (const id of parents) await put(id)
    await put('child', { parents })

    for (const job of await pop({ limit: 3 })) {
      expect(await stateOf('child')).toBe('blocked')
      await job.ack()
    }

    expect(await popIds()).toEqual(['child'])
  })

  test('test_dependency_chain: a chain is done one job after the other', async () => {
    const { put, pop } = await begin()
    const chain = ['a', 'b', 'c', 'd']
    await put('a')
    for (const [at, id] of chain.slice(1).entries()) await put(id, { parents: [chain[at] ?? ''] })

    for (const id of chain) {
      const jobs = await pop({ limit: 10 })
      expect(jobs.map((job) => job.id)).toEqual([id])
      await jobs[0]?.ack()
    }
  })

  test('test_add_dependency: a blocked job may be given more parents', async () => {
    const { queue, put, pop, popIds, stateOf } = await begin()
    await put('a')
    await put('b')
    await put('child', { parents: ['a'] })
    expect(await queue.jobs.addParents('child', ['b'])).toBe('changed')

    const [a, b] = await pop({ limit: 2 })
    await a?.ack()
    expect(await stateOf('child')).toBe('blocked')
    await b?.ack()

    expect(await popIds()).toEqual(['child'])
  })

  test('test_remove_dependency: parents may be taken from a blocked job; without any it is ready', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    await put('b')
    await put('child', { parents: ['a', 'b'] })

    expect(await queue.jobs.removeParents('child', ['a'])).toBe('changed')
    expect(await stateOf('child')).toBe('blocked')
    expect(await queue.jobs.removeParents('child', ['b'])).toBe('changed')

    expect(await stateOf('child')).toBe('ready')
  })

  test('test_reput_dependency: a job that is put again keeps its parents; they are changed by name', async () => {
    const { queue, put } = await begin()
    await put('a')
    await put('b')
    await put('child', { parents: ['a'] })
    const parents = async (): Promise<string[]> => (await queue.jobs.parents('child')).map(({ id }) => id)

    await put('child', { parents: ['b'] })
    expect(await parents()).toEqual(['a'])
    await queue.jobs.addParents('child', ['b'])
    await queue.jobs.removeParents('child', ['a'])

    expect(await parents()).toEqual(['b'])
  })

  test.each([
    ['test_depends_waiting', 'ready', {}, ''],
    ['test_depends_scheduled', 'scheduled', { delay: '1m' }, ''],
    ['test_depends_failed', 'dead', {}, 'bury'],
    ['test_depends_running', 'claimed', {}, 'claim'],
  ] as const)('%s: parents of a job that is %s are not changed', async (_, state, options, then) => {
    const { queue, put, pop, stateOf } = await begin()
    await put('child', options)
    const [job] = then === '' ? [] : await pop()
    if (then === 'bury') await job?.bury()
    await put('a')

    expect(await queue.jobs.addParents('child', ['a'])).toBe(state)
    expect(await queue.jobs.removeParents('child', ['a'])).toBe(state)

    expect([await stateOf('child'), await queue.jobs.parents('child')]).toEqual([state, []])
  })

  test('test_depends_nonexistent: of a job that is not known parents are not changed', async () => {
    const { queue, put } = await begin()
    await put('a')

    expect(await queue.jobs.addParents('never there', ['a'])).toBe('absent')
    expect(await queue.jobs.removeParents('never there', ['a'])).toBe('absent')
  })
})
