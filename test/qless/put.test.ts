import { describe, expect, test } from 'vitest'
import { begin, refusalOf, START_MS, verbsOf } from './fixture.ts'

describe('TestPut', () => {
  test.each([
    ['name', '', {}],
    ['name', 7, {}],
    ['id', 'mail', { id: '' }],
    ['id', 'mail', { id: '12' }],
    ['delay', 'mail', { delay: 'soon' }],
    ['delay', 'mail', { delay: 5 }],
    ['priority', 'mail', { priority: 'high' }],
    ['maxAttempts', 'mail', { maxAttempts: 0 }],
    ['tags', 'mail', { tags: 'urgent' }],
    ['tags', 'mail', { tags: Array.from({ length: 21 }, (_, at) => `${at}`) }],
    ['dependsOn', 'mail', { dependsOn: 'a' }],
    ['onDependencyFailure', 'mail', { onDependencyFailure: 'wait' }],
    ['options.retries', 'mail', { retries: 5 }],
  ])('test_malformed: an enqueue names the wrong argument: %s of %j %j', async (argument, name, options) => {
    const { queue, count } = await begin()

    expect(await refusalOf(async () => queue.enqueue(name as 'mail', { to: 'ada' }, options as never))).toBe(
      argument,
    )

    expect(await count('ready')).toBe(0)
  })

  test('test_basic: an enqueued job can be found with all its options', async () => {
    const { queue, put } = await begin()
    await put('a')

    expect(await queue.jobs.get('a')).toMatchObject({
      id: 'a',
      name: 'mail',
      payload: { to: 'a' },
      state: 'ready',
      attempts: 0,
      maxAttempts: 3,
      token: null,
      atMs: START_MS,
      enqueuedAtMs: START_MS,
      priority: 0,
      group: '',
      tags: [],
      failure: null,
      result: null,
      isTracked: false,
      log: [],
    })
  })

  test('test_data_as_array: a payload may be a list', async () => {
    const { redis, name } = await begin()
    const queue = redis.queue<{ sum: unknown[] }>(name)
    await queue.enqueue('sum', ['an', 'array', []])

    expect((await queue.claim())[0]?.payload).toEqual(['an', 'array', []])
  })

  test('test_put_delay: a job with a delay is scheduled until then', async () => {
    const { queue, put } = await begin()
    await put('a', { delay: '1m' })

    expect(await queue.jobs.get('a')).toMatchObject({ state: 'scheduled', atMs: START_MS + 60_000 })
  })

  test('test_put_retries: a job has the requested number of attempts', async () => {
    const { queue, put } = await begin()
    await put('a', { maxAttempts: 2 })

    expect(await queue.jobs.get('a')).toMatchObject({ maxAttempts: 2 })
  })

  test('test_put_tags: a job has the requested tags', async () => {
    const { queue, put } = await begin()
    await put('a', { tags: ['some', 'tags'] })

    expect(await queue.jobs.get('a')).toMatchObject({ tags: ['some', 'tags'] })
  })

  test('test_put_priority: a job has the requested priority', async () => {
    const { queue, put } = await begin()
    await put('a', { priority: 1 })

    expect(await queue.jobs.get('a')).toMatchObject({ priority: 1 })
  })

  test('test_put_depends: a job shows its dependencies', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'] })

    expect(await stateOf('b')).toBe('blocked')
    expect(await queue.jobs.dependencies('b')).toMatchObject([{ id: 'a', state: 'pending' }])
  })

  test('test_put_depends_with_delay: a job with dependencies and a delay is blocked first', async () => {
    const { queue, put, stateOf } = await begin()
    await put('a')
    await put('b', { dependsOn: ['a'], delay: '1m' })

    expect(await stateOf('b')).toBe('blocked')
    expect(await queue.jobs.dependencies('b')).toMatchObject([{ id: 'a', state: 'pending' }])
  })

  test('test_move: no put moves a job; in another queue the same id is another job', async () => {
    const place = await begin()
    const other = verbsOf(await place.another())
    await place.put('a')
    await other.put('a')

    expect([await place.popIds(10), await other.popIds(10)]).toEqual([['a'], ['a']])
  })

  test('test_move_update: a job that is put again stays unchanged, unless it may be replaced, as a whole', async () => {
    const { queue, put } = await begin()
    await put('kept', { priority: 1, tags: ['first'] })
    await put('kept', { priority: 2, tags: ['second'] })
    const unique = { key: 'k', replace: true } as const
    await put('replaced', { priority: 1, tags: ['first'], unique })
    await queue.enqueue('mail', { to: 'new' }, { priority: 2, unique })

    expect(await queue.jobs.get('kept')).toMatchObject({ priority: 1, tags: ['first'] })
    expect(await queue.jobs.get('replaced')).toMatchObject({
      payload: { to: 'new' },
      priority: 2,
      tags: [],
    })
  })
})
