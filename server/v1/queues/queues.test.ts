import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type FeedApi, startFeedApi } from '../../testing/feed-api.ts'
import type { HttpAnswer } from '../../testing/test-app.ts'

let api: FeedApi
beforeAll(async () => {
  api = await startFeedApi(inject('redisPort'))
})
afterAll(() => api[Symbol.asyncDispose]())

interface Held {
  id: string
  token: number
}

const newQueue = (): string => `/v1/queues/${randomUUID()}`
const codeOf = ({ status, json }: HttpAnswer): unknown[] => [status, json.code]
const post = (path: string, body: unknown = {}): Promise<HttpAnswer> => api.call('POST', path, { body })
const claim = (queue: string, body: object = {}, query = ''): Promise<HttpAnswer> =>
  post(`${queue}/claims${query}`, body)
const placeOf = (queue: string, { id, token }: Held): string =>
  `${queue}/jobs/${encodeURIComponent(id)}/claims/${token}`

/** Enqueues so many jobs, claims them, and returns what settling needs. */
async function claimed(queue: string, count: number, options: object = {}): Promise<Held[]> {
  const job = { name: 'n', payload: null, ...options }
  await post(`${queue}/jobs`, { jobs: Array.from({ length: count }, () => job) })
  const { json } = await claim(queue, { limit: count })
  return json.jobs.map(({ id, token }: Held) => ({ id, token }))
}

async function firstOf(queue: string, options: object = {}): Promise<Held> {
  const [held] = await claimed(queue, 1, options)
  if (held === undefined) throw new Error('nothing was claimed')
  return held
}

/** Resolves once so many requests wait for jobs. */
async function whenIdle(queue: string, count: number, { call } = api): Promise<void> {
  // A queue without any job or waiter does not exist.
  while (((await call('GET', queue)).json.idle ?? 0) !== count) await sleep(5)
}

describe('jobs', () => {
  test('are returned unchanged', async () => {
    const queue = newQueue()
    const payload = '{"sum": 9007199254740993,  "far": 1e400}'
    const sent = await api.call('POST', `${queue}/jobs`, {
      body: `{"name": "mail", "payload": ${payload}, "group": "é\\"", "tags": ["a", "b"], "maxRun": "5s"}`,
    })
    expect(sent.status).toBe(201)
    const [{ id, duplicate }] = sent.json.jobs
    expect(duplicate).toBe(false)

    const { status, text, json } = await claim(queue, { lease: '1m' })
    expect([status, json.leaseMs]).toEqual([201, 60_000])
    expect(text).toContain(`"payload":${payload}}`)
    expect(json.jobs).toMatchObject([
      {
        id,
        name: 'mail',
        attempt: 1,
        maxAttempts: 3,
        group: 'é"',
        tags: ['a', 'b'],
        maxRunMs: 5000,
        trace: '',
      },
    ])
    expect(json.expiresAtMs).toBeGreaterThan(json.jobs[0].enqueuedAtMs)
    const found = await api.call('GET', `${queue}/jobs/${id}`)
    expect(found.text).toContain(`"payload":${payload},"result":null}`)
  })

  test('of one request are enqueued in its order, a thousand and each with its own payload', async () => {
    const queue = newQueue()
    const jobs = Array.from({ length: 1000 }, (_, at) => ({ name: 'n', payload: { at } }))
    const { status, json } = await post(`${queue}/jobs`, { jobs })
    expect([status, json.jobs.length]).toEqual([201, 1000])
    const { json: got } = await claim(queue, { limit: 200 })
    expect(got.jobs.map(({ payload }: { payload: { at: number } }) => payload.at)).toEqual(
      Array.from({ length: 200 }, (_, at) => at),
    )
    expect((await post(`${queue}/jobs`, { jobs: [...jobs, jobs[0]] })).json.argument).toBe('jobs')
  })

  test('with an id of their own may be enqueued again', async () => {
    const queue = newQueue()
    const job = { name: 'n', payload: 1, id: 'order 17/a' }
    expect((await post(`${queue}/jobs`, job)).json).toEqual({ jobs: [{ id: job.id, duplicate: false }] })
    const again = await post(`${queue}/jobs`, job)
    expect([again.status, again.json]).toEqual([200, { jobs: [{ id: job.id, duplicate: true }] }])
    const mixed = await post(`${queue}/jobs`, { jobs: [job, { ...job, id: 'order 18' }] })
    expect([mixed.status, mixed.json.jobs.map((each: { duplicate: boolean }) => each.duplicate)]).toEqual([
      201,
      [true, false],
    ])
    expect((await api.call('GET', queue)).json.ready).toBe(2)
  })

  test('of tenants are separate', async () => {
    const queue = newQueue()
    await post(`${queue}/jobs`, { name: 'n', payload: 1 })
    expect((await api.call('POST', `${queue}/claims`, { project: 'other' })).status).toBe(204)
    expect((await claim(queue)).status).toBe(201)
  })

  test('are shared with the library', async () => {
    const name = randomUUID()
    const queue = api.perilune.queue(`v1:test/${name}`)
    await queue.enqueue('n', { from: 'library' })
    const { json } = await claim(`/v1/queues/${name}`)
    expect(json.jobs[0].payload).toEqual({ from: 'library' })
    await post(`/v1/queues/${name}/jobs`, { name: 'n', payload: { from: 'http' } })
    expect((await queue.claim()).map(({ payload }) => payload)).toEqual([{ from: 'http' }])
  })
})

describe('a claim', () => {
  test('that finds nothing is answered with 204, also at the end of its wait', async () => {
    const queue = newQueue()
    expect((await claim(queue)).status).toBe(204)
    expect((await claim(queue, {}, '?wait=20ms')).status).toBe(204)
  })

  test('that waits is woken up by a job', async () => {
    const queue = newQueue()
    const waiting = claim(queue, { limit: 5 }, '?wait=50s')
    await whenIdle(queue, 1)
    const { json } = await post(`${queue}/jobs`, { name: 'n', payload: 1 })
    const { status, json: got } = await waiting
    expect([status, got.jobs[0].id]).toEqual([201, json.jobs[0].id])
    await whenIdle(queue, 0)
  })

  test('that waits longer than the service allows is answered then', async () => {
    await using short = await startFeedApi(inject('redisPort'), { feedLimits: { maxWaitMs: 50 } })
    expect((await short.call('POST', `${newQueue()}/claims?wait=1h`)).status).toBe(204)
  })

  test('of a client that has left takes no job', async () => {
    const queue = newQueue()
    const leaving = new AbortController()
    const left = fetch(`${api.url}${queue}/claims?wait=50s`, {
      method: 'POST',
      headers: { 'X-Project-ID': 'test', 'Content-Type': 'application/json' },
      signal: leaving.signal,
    }).catch(() => null)
    await whenIdle(queue, 1)
    leaving.abort()
    await left
    await whenIdle(queue, 0)
    await post(`${queue}/jobs`, { name: 'n', payload: 1 })
    expect((await claim(queue)).json.jobs[0].attempt).toBe(1)
  })

  test('ends when the service closes', async () => {
    const closing = await startFeedApi(inject('redisPort'))
    const queue = newQueue()
    const waiting = closing.call('POST', `${queue}/claims?wait=50s`)
    await whenIdle(queue, 1, closing)
    await closing[Symbol.asyncDispose]()
    expect(codeOf(await waiting)).toEqual([503, 'unavailable'])
  })
})

describe('a claimed job', () => {
  test('is acked, and deleted', async () => {
    const queue = newQueue()
    const held = await firstOf(queue)
    expect((await api.call('DELETE', placeOf(queue, held))).status).toBe(204)
    expect(codeOf(await api.call('GET', `${queue}/jobs/${held.id}`))).toEqual([404, 'not-found'])
  })

  test('is acked with a result, which is stored unchanged', async () => {
    const queue = newQueue()
    await api.call('PATCH', `${queue}/settings`, { body: { retention: { count: 10 } } })
    const result = '{"sum": 9007199254740993, "far": 1e400}'
    for (const options of [{}, { id: 'own/id' }]) {
      const held = await firstOf(queue, options)
      const put = (body: string) => api.call('PUT', `${placeOf(queue, held)}/result`, { body })
      // The second one is a repetition.
      expect([(await put(result)).status, (await put('1')).status]).toEqual([204, 204])
      const { json, text } = await api.call('GET', `${queue}/jobs/${encodeURIComponent(held.id)}`)
      expect(json.state).toBe('done')
      expect(text).toContain(`"result":${result}}`)
    }
    const held = await firstOf(queue)
    expect((await api.call('PUT', `${placeOf(queue, held)}/result`)).json.argument).toBe('body')
  })

  test('is extended', async () => {
    const queue = newQueue()
    const held = await firstOf(queue, { id: 'own' })
    const longer = await api.call('PATCH', placeOf(queue, held), { body: { lease: '1h' } })
    expect(longer.json).toMatchObject({ ...held, leaseMs: 3_600_000 })
    expect(longer.json.expiresAtMs).toBeGreaterThan(Date.now() + 3_000_000)
    expect((await api.call('PATCH', placeOf(queue, held))).json.leaseMs).toBe(30_000)
  })

  test('is retried, and dead after its last attempt', async () => {
    const queue = newQueue()
    const held = await firstOf(queue, { maxAttempts: 2 })
    const failure = { delay: '0ms', kind: 'http', message: '500' }
    expect((await post(`${placeOf(queue, held)}/retry`, failure)).json).toEqual({
      ...held,
      outcome: 'retried',
    })
    const [again] = (await claim(queue)).json.jobs
    expect([again.id, again.attempt]).toEqual([held.id, 2])
    const { json } = await post(`${placeOf(queue, again)}/retry`, failure)
    expect(json.outcome).toBe('dead')
    const dead = (await api.call('GET', `${queue}/jobs/${held.id}`)).json
    expect(dead).toMatchObject({ state: 'dead', attempts: 2, failure: { kind: 'http', message: '500' } })
  })

  test('is failed', async () => {
    const queue = newQueue()
    const held = await firstOf(queue)
    expect((await post(`${placeOf(queue, held)}/fail`, { kind: 'invalid' })).status).toBe(204)
    const { json } = await api.call('GET', `${queue}/jobs/${held.id}`)
    expect([json.state, json.failure.kind]).toEqual(['dead', 'invalid'])
  })

  test('is released, as if it had not been claimed', async () => {
    const queue = newQueue()
    const held = await firstOf(queue)
    expect((await post(`${placeOf(queue, held)}/release`)).status).toBe(204)
    const [again] = (await claim(queue)).json.jobs
    expect([again.id, again.attempt]).toEqual([held.id, 1])
  })

  test('is released with a delay', async () => {
    const queue = newQueue()
    const held = await firstOf(queue)
    expect((await post(`${placeOf(queue, held)}/release`, { delay: '1h' })).status).toBe(204)
    const { json } = await api.call('GET', `${queue}/jobs/${held.id}`)
    expect([json.state, json.attempts]).toEqual(['scheduled', 0])
  })

  const stale: [reason: string, lose: (queue: string, held: Held) => Promise<Held>][] = [
    ['absent', async (_, { token }) => ({ id: 'absent', token })],
    ['absent', async (_, { token }) => ({ id: '1', token })],
    ['lost', async (_, { id, token }) => ({ id, token: token + 1 })],
    [
      'lost',
      async (queue, held) => {
        await api.call('PATCH', placeOf(queue, held), { body: { lease: '10ms' } })
        while ((await claim(queue)).status === 204) await sleep(5)
        return held
      },
    ],
    [
      'cancelled',
      async (queue, held) => {
        await api.call('DELETE', `${queue}/jobs/${held.id}`)
        return held
      },
    ],
  ]
  test.each(stale)('that no longer belongs to the caller is %s', async (reason, lose) => {
    const calls = [
      (place: string) => api.call('PATCH', place),
      (place: string) => api.call('DELETE', place),
      (place: string) => api.call('PUT', `${place}/result`, { body: 1 }),
      (place: string) => post(`${place}/retry`),
      (place: string) => post(`${place}/fail`),
      (place: string) => post(`${place}/release`),
    ]
    for (const call of calls) {
      const queue = newQueue()
      const { status, json } = await call(placeOf(queue, await lose(queue, await firstOf(queue))))
      expect([status, json.code, json.reason]).toEqual([410, 'lease-lost', reason])
    }
  })
})

describe('many claimed jobs', () => {
  const wrong = { id: 'absent', token: 1 }
  const lost = { ...wrong, outcome: 'lost', reason: 'absent' }

  test('are acked, each independently and with its result', async () => {
    const queue = newQueue()
    await api.call('PATCH', `${queue}/settings`, { body: { retention: { count: 10 } } })
    const [a, b] = await claimed(queue, 2)
    const body = `{"jobs": [${JSON.stringify(a)}, {"result": 1e400, "token": 1, "id": "absent"},
      {"id": "${b?.id}", "token": ${b?.token}, "result": {"sum": 9007199254740993}}]}`
    const { status, json } = await api.call('POST', `${queue}/ack`, { body })
    expect([status, json.jobs]).toEqual([200, [{ ...a, outcome: 'acked' }, lost, { ...b, outcome: 'acked' }]])
    expect((await api.call('GET', `${queue}/jobs/${b?.id}`)).text).toContain('{"sum": 9007199254740993}}')
    expect((await api.call('GET', `${queue}/jobs/${a?.id}`)).json.result).toBe(null)
  })

  test('are retried, each independently', async () => {
    const queue = newQueue()
    const [a] = await claimed(queue, 1)
    const [b] = await claimed(queue, 1, { maxAttempts: 1 })
    const jobs = [{ ...a, delay: '1h', kind: 'k', message: 'm' }, wrong, b]
    expect((await post(`${queue}/retry`, { jobs })).json.jobs).toEqual([
      { ...a, outcome: 'retried' },
      lost,
      { ...b, outcome: 'dead' },
    ])
    expect((await api.call('GET', `${queue}/jobs/${a?.id}`)).json).toMatchObject({
      state: 'scheduled',
      failure: { kind: 'k', message: 'm' },
    })
  })

  test('are failed, each independently', async () => {
    const queue = newQueue()
    const [a] = await claimed(queue, 1)
    const { json } = await post(`${queue}/fail`, { jobs: [wrong, { ...a, kind: 'k' }] })
    expect(json.jobs).toEqual([lost, { ...a, outcome: 'dead' }])
  })

  test('are released, each independently', async () => {
    const queue = newQueue()
    const [a] = await claimed(queue, 1)
    const { json } = await post(`${queue}/release`, { jobs: [{ ...a, delay: '1h' }, wrong] })
    expect(json.jobs).toEqual([{ ...a, outcome: 'released' }, lost])
    expect((await api.call('GET', `${queue}/jobs/${a?.id}`)).json.state).toBe('scheduled')
  })

  test('are extended, each independently', async () => {
    const queue = newQueue()
    const [a] = await claimed(queue, 1)
    const { json } = await post(`${queue}/extend`, { jobs: [a, wrong], lease: '1h' })
    expect(json).toMatchObject({ leaseMs: 3_600_000, jobs: [{ ...a, outcome: 'extended' }, lost] })
    expect((await post(`${queue}/extend`, { jobs: [wrong] })).json.jobs).toEqual([lost])
  })
})

describe('an invalid argument', () => {
  const job = { name: 'n', payload: 1 }
  const wrongJobs: [argument: string, body: object][] = [
    ['name', { payload: 1 }],
    ['name', { ...job, name: '' }],
    ['payload', { name: 'n' }],
    ['ttl', { ...job, ttl: '1h' }],
    ['id', { ...job, id: '123' }],
    ['delay', { ...job, delay: '10' }],
    ['delay', { ...job, delay: '366d' }],
    ['priority', { ...job, priority: 0.5 }],
    ['maxAttempts', { ...job, maxAttempts: 0 }],
    ['backoff', { ...job, backoff: 'never' }],
    ['backoff.base', { ...job, backoff: { kind: 'fixed', base: 'soon' } }],
    ['backoff.base', { ...job, backoff: { kind: 'fixed' } }],
    ['backoff.kind', { ...job, backoff: { kind: 'magic', base: '1s' } }],
    ['unique', { ...job, unique: 5 }],
    ['unique.for', { ...job, unique: { key: 'k', for: 'ever' } }],
    ['tags', { ...job, tags: 'a' }],
    ['jobs[1].name', { jobs: [job, { payload: 1 }] }],
    ['jobs[1].delay', { jobs: [job, { ...job, delay: 'soon' }] }],
    ['jobs', { jobs: [] }],
    ['wait', { jobs: [job], wait: '1s' }],
  ]
  test.each(wrongJobs)('in a job is rejected by its name: %s', async (argument, body) => {
    const queue = newQueue()
    const { status, json } = await post(`${queue}/jobs`, body)
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
    expect((await api.call('GET', queue)).status).toBe(404)
  })

  const wrongCalls: [argument: string, path: string, body?: object][] = [
    ['limit', '/claims', { limit: 201 }],
    ['lease', '/claims', { lease: '1' }],
    ['lease', '/claims', { lease: '31d' }],
    ['wait', '/claims?wait=soon'],
    ['wait', '/claims?wait=2h'],
    ['after', '/claims?after=1'],
    ['token', '/jobs/1/claims/x/retry'],
    ['delay', '/jobs/1/claims/1/retry', { delay: 'soon' }],
    ['kind', '/jobs/1/claims/1/retry', { kind: '' }],
    ['delay', '/jobs/1/claims/1/fail', { delay: '1s' }],
    ['jobs', '/ack'],
    ['jobs[0].token', '/ack', { jobs: [{ id: 'a' }] }],
    ['jobs[0].lease', '/ack', { jobs: [{ id: 'a', token: 1, lease: '1s' }] }],
    ['jobs[0].token', '/retry', { jobs: [{ id: 'a', token: 0 }] }],
    ['jobs[0].id', '/fail', { jobs: [{ id: '', token: 1 }] }],
    ['lease', '/extend', { jobs: [{ id: 'a', token: 1 }], lease: 'long' }],
  ]
  test.each(wrongCalls)('is rejected by its name: %s in %s', async (argument, path, body = {}) => {
    const { status, json } = await post(newQueue() + path, body)
    expect([status, json.code, json.argument]).toEqual([400, 'invalid-argument', argument])
  })

  test('is a payload that is too large, a name too long, a body of another type', async () => {
    const queue = newQueue()
    const body = `{"name":"n","payload":"${'x'.repeat(4_194_304)}"}`
    expect(codeOf(await api.call('POST', `${queue}/jobs`, { body }))).toEqual([413, 'too-large'])
    expect((await claim(`/v1/queues/${'n'.repeat(600)}`)).json.argument).toBe('name')
    const headers = { 'Content-Type': 'text/plain' }
    expect((await api.call('POST', `${queue}/jobs`, { body: '{}', headers })).status).toBe(415)
  })
})
