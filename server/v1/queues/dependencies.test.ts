import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer, CallOptions } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

const newQueue = (): string => `/v1/queues/${randomUUID()}`
const nameIn = (queue: string): string => queue.split('/').at(-1) ?? ''
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code, json.reason]
const get = (path: string, options?: CallOptions): Promise<HttpAnswer> => api.call('GET', path, options)
const post = (path: string, body: unknown = {}, options?: CallOptions): Promise<HttpAnswer> =>
  api.call('POST', path, { body, ...options })
const stateOf = async (queue: string, id: string, options?: CallOptions): Promise<string> =>
  (await get(`${queue}/jobs/${id}`, options)).json.state ?? 'absent'

async function enqueue(queue: string, options: object = {}, sent?: CallOptions): Promise<string> {
  const { json } = await post(`${queue}/jobs`, { name: 'n', payload: 1, ...options }, sent)
  return json.jobs[0].id
}

/** Claims the next job; `settle` takes an outcome for it. */
async function claimOne(queue: string): Promise<{ id: string; at: string; settle: Settle }> {
  const { json } = await post(`${queue}/claims`)
  const [{ id, token }] = json.jobs
  const at = `${queue}/jobs/${encodeURIComponent(id)}/claims/${token}`
  return { id, at, settle: (method, end, body) => api.call(method, at + end, { body }) }
}
type Settle = (method: string, end: string, body?: unknown) => Promise<HttpAnswer>

/** Resolves once the job is in that state: changes of other queues arrive through an outbox. */
async function reaches(queue: string, id: string, state: string, options?: CallOptions): Promise<void> {
  while ((await stateOf(queue, id, options)) !== state) await sleep(5)
}

describe('a job with dependencies', () => {
  test('waits until all of them are done, and returns their results unchanged', async () => {
    const queue = newQueue()
    const [a, b] = [await enqueue(queue), await enqueue(queue, { id: 'own/id' })]
    const dependent = await enqueue(queue, { dependsOn: [a, b] })
    expect(await stateOf(queue, dependent)).toBe('blocked')

    const result = '{"sum": 9007199254740993}'
    await (await claimOne(queue)).settle('PUT', '/result', result)
    expect(await stateOf(queue, dependent)).toBe('blocked')
    const { text, json } = await get(`${queue}/jobs/${dependent}/dependencies`)
    expect(text).toContain(`"result":${result}}`)
    expect(json.dependencies).toMatchObject([
      { queue: null, id: a, state: 'done', failure: null, undecodable: [] },
      { queue: null, id: b, state: 'pending', failure: null, result: null, undecodable: [] },
    ])
    await (await claimOne(queue)).settle('DELETE', '')

    expect((await claimOne(queue)).id).toBe(dependent)
  })

  test('whose dependencies fail follows onDependencyFailure', async () => {
    const queue = newQueue()
    const dependencies = [await enqueue(queue)]
    const dies = await enqueue(queue, { dependsOn: dependencies })
    const goes = await enqueue(queue, { dependsOn: dependencies, onDependencyFailure: 'cancel' })
    const runs = await enqueue(queue, { dependsOn: dependencies, onDependencyFailure: 'run' })
    await (await claimOne(queue)).settle('POST', '/fail', { kind: 'odd', message: 'very' })

    expect(await stateOf(queue, dies)).toBe('dead')
    expect(await stateOf(queue, goes)).toBe('absent')
    expect(await stateOf(queue, runs)).toBe('ready')
    expect((await get(`${queue}/jobs/${runs}/dependencies`)).json.dependencies).toEqual([
      {
        queue: null,
        id: dependencies[0],
        state: 'dead',
        failure: { kind: 'odd', message: 'very' },
        result: null,
        undecodable: [],
      },
    ])
  })

  test('waits for those of another queue, named as its tenant names it', async () => {
    const [near, far] = [newQueue(), newQueue()]
    await enqueue(far, { id: 'far' })
    const dependent = await enqueue(near, { dependsOn: [{ queue: nameIn(far), id: 'far' }] })
    expect(await stateOf(near, dependent)).toBe('blocked')

    await (await claimOne(far)).settle('PUT', '/result', '"from afar"')
    await reaches(near, dependent, 'ready')

    expect((await get(`${near}/jobs/${dependent}/dependencies`)).json.dependencies).toEqual([
      { queue: nameIn(far), id: 'far', state: 'done', failure: null, result: 'from afar', undecodable: [] },
    ])
  })

  test('of another tenant finds nothing, whatever the name of the queue', async () => {
    const [mine, theirs] = [newQueue(), newQueue()]
    await enqueue(theirs, { id: 'secret' })
    const stranger = { project: 'stranger' }
    for (const queue of [nameIn(theirs), `v1:test/${nameIn(theirs)}`]) {
      const dependent = await enqueue(mine, { dependsOn: [{ queue, id: 'secret' }] }, stranger)
      await reaches(mine, dependent, 'ready', stranger)
      expect((await get(`${mine}/jobs/${dependent}/dependencies`, stranger)).json.dependencies).toMatchObject(
        [{ queue, id: 'secret', state: 'absent' }],
      )
    }
  })

  test('of its own queue by name waits like those by id alone', async () => {
    const queue = newQueue()
    const dependency = await enqueue(queue)
    const dependent = await enqueue(queue, { dependsOn: [{ queue: nameIn(queue), id: dependency }] })
    expect((await get(`${queue}/jobs/${dependent}/dependencies`)).json.dependencies).toMatchObject([
      { queue: null },
    ])
  })

  test('returns large results in pages', async () => {
    const queue = newQueue()
    const ids: string[] = []
    for (let at = 0; at < 6; at += 1) ids.push(await enqueue(queue))
    const dependent = await enqueue(queue, { dependsOn: ids })
    const result = 'x'.repeat(1_100_000)
    const { json: claimed } = await post(`${queue}/claims`, { limit: 6 })
    for (const { id, token } of claimed.jobs) await post(`${queue}/ack`, { jobs: [{ id, token, result }] })

    const first = await get(`${queue}/jobs/${dependent}/dependencies`)
    const second = await get(`${queue}/jobs/${dependent}/dependencies?after=${first.json.next}`)

    const seen = [...first.json.dependencies, ...second.json.dependencies]
    expect(seen.map(({ id }: { id: string }) => id)).toEqual(ids)
    expect(seen.every((dependency: { result: string }) => dependency.result === result)).toBe(true)
    expect([first.json.dependencies.length, second.json.next]).toEqual([4, null])
    expect(codeOf(await get(`${queue}/jobs/${dependent}/dependencies?after=x`))).toMatchObject([
      400,
      'invalid-argument',
      undefined,
    ])
  })

  test('has none if it waits for no other job, and is unknown if it does not exist', async () => {
    const queue = newQueue()
    const id = await enqueue(queue)
    expect((await get(`${queue}/jobs/${id}/dependencies`)).json).toEqual({ dependencies: [], next: null })
    expect(codeOf(await get(`${queue}/jobs/absent/dependencies`))).toEqual([404, 'not-found', undefined])
  })
})

describe('dependencies', () => {
  test('are added and removed while the job is blocked', async () => {
    const queue = newQueue()
    const [a, b] = [await enqueue(queue), await enqueue(queue)]
    const dependent = await enqueue(queue, { dependsOn: [a] })
    const change = (body: object) => post(`${queue}/jobs/${dependent}/dependencies`, body)

    const added = await change({ add: [b] })
    expect([added.status, added.json]).toEqual([200, { id: dependent, outcome: 'changed' }])
    expect((await change({ remove: [{ queue: nameIn(queue), id: a }] })).json.outcome).toBe('changed')
    expect((await get(`${queue}/jobs/${dependent}/dependencies`)).json.dependencies).toMatchObject([
      { id: b },
    ])
    await change({ remove: [b] })
    expect(await stateOf(queue, dependent)).toBe('ready')
  })

  test('stay unchanged if the job is not blocked or not known, or the dependency is not older', async () => {
    const queue = newQueue()
    const [a, b] = [await enqueue(queue), await enqueue(queue, { delay: '1h' })]
    const dependent = await enqueue(queue, { dependsOn: [a] })
    const younger = await enqueue(queue)
    const add = (id: string, dependency: string) =>
      post(`${queue}/jobs/${id}/dependencies`, { add: [dependency] })

    expect(codeOf(await add(a, b))).toEqual([409, 'refused', 'ready'])
    expect(codeOf(await add(b, a))).toEqual([409, 'refused', 'scheduled'])
    expect(codeOf(await add(dependent, younger))).toEqual([409, 'refused', 'newer'])
    expect(codeOf(await add('absent', a))).toEqual([404, 'not-found', undefined])
    const settings = { body: { retention: { count: 1 } } }
    await api.call('PATCH', `${queue}/settings`, settings)
    const { id, settle } = await claimOne(queue)
    expect(codeOf(await add(id, b))).toEqual([409, 'refused', 'claimed'])
    await settle('DELETE', '')
    expect(codeOf(await add(id, b))).toEqual([409, 'refused', 'done'])
  })

  test.each([
    ['dependsOn', '/jobs', { name: 'n', payload: 1, dependsOn: 'a' }],
    ['dependsOn', '/jobs', { name: 'n', payload: 1, dependsOn: Array.from({ length: 101 }, String) }],
    ['dependsOn[0].queue', '/jobs', { name: 'n', payload: 1, dependsOn: [{ id: 'a' }] }],
    ['dependsOn.queue', '/jobs', { name: 'n', payload: 1, dependsOn: [{ queue: '', id: 'a' }] }],
    ['dependsOn', '/jobs', { name: 'n', payload: 1, dependsOn: [''] }],
    ['onDependencyFailure', '/jobs', { name: 'n', payload: 1, onDependencyFailure: 'hope' }],
    ['remove', '/jobs/1/dependencies', {}],
    ['remove', '/jobs/1/dependencies', { add: ['a'], remove: ['a'] }],
    ['remove', '/jobs/1/dependencies', { remove: [] }],
    ['add[0]', '/jobs/1/dependencies', { add: [{ queue: 'q', id: 'a' }] }],
  ])('are rejected if %s is invalid', async (argument, path, body) => {
    const { status, json } = await post(newQueue() + path, body)
    expect([status, json.argument]).toEqual([400, argument])
  })
})

test('a request may name a hundred other queues', async () => {
  const queue = newQueue()
  const dependencies = (of: number): object[] =>
    Array.from({ length: 100 }, (_, at) => ({ queue: `other-${of}-${at}`, id: 'x' }))
  const jobs = [0, 1].map((of) => ({ name: 'n', payload: 1, dependsOn: dependencies(of) }))

  expect((await post(`${queue}/jobs`, { jobs: [jobs[0], jobs[0]] })).status).toBe(201)
  const { status, json } = await post(`${queue}/jobs`, { jobs })
  expect([status, json.argument]).toEqual([400, 'dependsOn.queue'])
  const steps = Array.from({ length: 101 }, (_, at) => ({
    id: 'lost',
    token: 1,
    next: { name: 'n', payload: 1, queue: `next-${at}` },
  }))
  const answer = await post(`${queue}/ack-and-enqueue`, { jobs: steps })
  expect([answer.status, answer.json.argument]).toEqual([400, 'next.queue'])
})

test('the jobs of a request may have ten thousand dependencies', async () => {
  const queue = newQueue()
  const dependencies = Array.from({ length: 100 }, (_, at) => `p${at}`)
  const jobs = Array.from({ length: 101 }, () => ({ name: 'n', payload: 1, dependsOn: dependencies }))

  const enqueued = await post(`${queue}/jobs`, { jobs })
  expect([enqueued.status, enqueued.json.argument]).toEqual([400, 'dependsOn'])
  const steps = jobs.map((next) => ({ id: 'lost', token: 1, next }))
  const answer = await post(`${queue}/ack-and-enqueue`, { jobs: steps })
  expect([answer.status, answer.json.argument]).toEqual([400, 'dependsOn'])
  expect((await post(`${queue}/jobs`, { jobs: jobs.slice(1) })).status).toBe(201)
})
