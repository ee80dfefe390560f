// Faults that Zaqar's own Redis driver has, each with its name there: this service does not have them.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { startProxy } from '../../../test/servers/proxy.ts'
import { startRedis } from '../../../test/servers/redis.ts'
import { type HttpAnswer, BOB, startApp, type TestApp } from '../../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'), {
    limits: { minMessageTtl: 1, minClaimTtl: 1, minClaimGrace: 1 },
  })
})
afterAll(() => app[Symbol.asyncDispose]())

let queues = 0
const newQueue = (): string => `/v2/queues/f${(queues += 1)}`

/** Posts messages; returns their URLs. */
async function post(queue: string, bodies: unknown[], life: object = {}): Promise<string[]> {
  const messages = bodies.map((body) => ({ body, ...life }))
  return (await app.call('POST', `${queue}/messages`, { body: { messages } })).json.resources
}

const bodiesOf = ({ json }: HttpAnswer): unknown[] => json.messages.map(({ body }: { body: unknown }) => body)
const nextOf = ({ json }: HttpAnswer): string => json.links[0].href
const pageOf = (queue: string, query = ''): Promise<HttpAnswer> =>
  app.call('GET', `${queue}/messages?echo=true${query}`)

async function untilGone(href: string): Promise<void> {
  while ((await app.call('GET', href)).status !== 404) await sleep(50)
}

test('f-first: a marker at the very first message continues after it', async () => {
  const queue = newQueue()
  await post(queue, ['a', 'b'])
  const first = await pageOf(queue, '&limit=1')
  expect(bodiesOf(await app.call('GET', nextOf(first)))).toEqual(['b'])
})

test('f-first: so does a marker at the very first queue', async () => {
  const project = 'f-first'
  for (const name of ['a', 'b']) await app.call('PUT', `/v2/queues/${name}`, { project })
  const first = await app.call('GET', '/v2/queues?limit=1', { project })
  const second = await app.call('GET', nextOf(first), { project })
  expect(second.json.queues.map(({ name }: { name: string }) => name)).toEqual(['b'])
})

test('f-deleted: a marker continues when its message has been deleted', async () => {
  const queue = newQueue()
  const [, b = ''] = await post(queue, ['a', 'b', 'c'])
  const next = nextOf(await pageOf(queue, '&limit=2'))
  await app.call('DELETE', b)
  expect(bodiesOf(await app.call('GET', next))).toEqual(['c'])
})

test('f-deleted: a marker continues when its message has expired', async () => {
  const queue = newQueue()
  await post(queue, ['a'])
  const [b = ''] = await post(queue, ['b'], { ttl: 1 })
  await post(queue, ['c'])
  const next = nextOf(await pageOf(queue, '&limit=2'))
  await untilGone(b)
  expect(bodiesOf(await app.call('GET', next))).toEqual(['c'])
})

test('f-filtered-page: pages full of own and of claimed messages do not stop a reader', async () => {
  const queue = newQueue()
  await post(queue, Array(45).fill('mine'))
  await app.call('POST', `${queue}/messages`, { client: BOB, body: { messages: [{ body: 'theirs' }] } })
  expect(bodiesOf(await app.call('GET', `${queue}/messages?limit=10`))).toEqual(['theirs'])

  await app.call('POST', `${queue}/claims?limit=20`)
  await app.call('POST', `${queue}/claims?limit=20`)
  expect(bodiesOf(await app.call('GET', `${queue}/messages?limit=5`, { client: BOB }))).toEqual(
    Array(5).fill('mine'),
  )
})

test('f-filtered-page: thousands of hidden messages do not either', async () => {
  const queue = newQueue()
  for (let count = 0; count < 5; count += 1) await post(queue, Array(1000).fill(0))
  await app.call('POST', `${queue}/messages`, { client: BOB, body: { messages: [{ body: 'theirs' }] } })
  expect(bodiesOf(await app.call('GET', `${queue}/messages?limit=1`))).toEqual(['theirs'])
})

test('f-filtered-page: nor when a marker of an earlier life of the queue starts over with them', async () => {
  const queue = newQueue()
  await post(queue, ['before'])
  const old = nextOf(await pageOf(queue)).replace('echo=true', 'echo=false')
  await app.call('DELETE', queue)
  for (let count = 0; count < 2; count += 1) await post(queue, Array(1000).fill('mine'))
  await app.call('POST', `${queue}/messages`, { client: BOB, body: { messages: [{ body: 'theirs' }] } })

  const answer = await app.call('GET', old)

  expect(bodiesOf(answer)).toEqual(['theirs'])
  expect(answer.headers.get('perilune-lost-before')).toBe('reset')
})

test('f-include-claimed: include_claimed works without a marker', async () => {
  const queue = newQueue()
  await post(queue, ['a'])
  await app.call('POST', `${queue}/claims`)
  const answer = await pageOf(queue, '&include_claimed=true')
  expect([answer.status, bodiesOf(answer)]).toEqual([200, ['a']])
})

test('c-steal: messages of live claims after a free message stay claimed', async () => {
  const queue = newQueue()
  await post(queue, ['a', 'b', 'c', 'd'])
  const [a, b, c] = [
    await app.call('POST', `${queue}/claims?limit=1`),
    await app.call('POST', `${queue}/claims?limit=1`),
    await app.call('POST', `${queue}/claims?limit=1`),
  ]
  for (const freed of [a, c]) await app.call('DELETE', freed.headers.get('location') ?? '')

  expect(bodiesOf(await app.call('POST', `${queue}/claims?limit=20`))).toEqual(['a', 'c', 'd'])
  expect(bodiesOf(await app.call('GET', b.headers.get('location') ?? ''))).toEqual(['b'])
})

test('i-queue, i-project: an id reaches its message through its own queue and project only', async () => {
  const [queue, other] = [newQueue(), newQueue()]
  const [href = ''] = await post(queue, ['a'])
  await post(other, ['b'])
  const through = href.replace(queue, other)

  for (const [path, options] of [
    [through, {}],
    [href, { project: 'stranger' }],
  ] as const) {
    expect((await app.call('GET', path, options)).status).toBe(404)
    expect((await app.call('DELETE', path, options)).status).toBe(204)
    const ids = `${path.slice(0, path.lastIndexOf('/'))}?ids=${path.split('/').at(-1)}`
    expect((await app.call('DELETE', ids, options)).status).toBe(204)
  }
  expect((await app.call('GET', href)).status).toBe(200)
})

test('c-dlq-listed: a dead letter leaves its queue and is free at once in the other', async () => {
  const [queue, dead] = [newQueue(), newQueue()]
  const name = dead.split('/').at(-1)
  await app.call('PUT', queue, { body: { _max_claim_count: 1, _dead_letter_queue: name } })
  await post(queue, ['poison'])
  const { headers } = await app.call('POST', `${queue}/claims`)
  await app.call('DELETE', headers.get('location') ?? '')

  expect((await app.call('POST', `${queue}/claims`)).status).toBe(204)
  let claim = await app.call('POST', `${dead}/claims`)
  while (claim.status === 204) claim = await app.call('POST', `${dead}/claims`)

  expect(bodiesOf(claim)).toEqual(['poison'])
  expect(bodiesOf(await pageOf(queue, '&include_claimed=true'))).toEqual([])
})

test('e-marker, e-stats, e-claim: messages that have just expired make no page empty, no statistics and no claim fail', async () => {
  const queue = newQueue()
  const expiring = await post(queue, Array(15).fill('short'), { ttl: 1 })
  await post(queue, ['long'])
  const claim = await app.call('POST', `${newQueue()}/claims`)
  await untilGone(expiring.at(-1) ?? '')

  expect(bodiesOf(await pageOf(queue))).toEqual(['long'])
  const stats = await app.call('GET', `${queue}/stats`)
  expect(stats.json.messages).toMatchObject({
    total: 1,
    free: 1,
    oldest: { body: 'long' },
    newest: { body: 'long' },
  })
  expect(claim.status).toBe(204)
})

test('e-claim: a claim that has just ended answers 404', async () => {
  const queue = newQueue()
  await post(queue, ['a'])
  const made = await app.call('POST', `${queue}/claims`, { body: { ttl: 1, grace: 1 } })
  const place = made.headers.get('location') ?? ''

  let status = 200
  while (status === 200) ({ status } = await app.call('GET', place))

  expect(status).toBe(404)
})

test('q-name-dot: names with dots are names like any other', async () => {
  const project = 'dots'
  const names = ['.', '..', 'a', 'a.b', 'a.b.c', 'a.messages']
  for (const name of names.slice(2)) {
    await app.call('POST', `/v2/queues/${name}/messages`, { project, body: { messages: [{ body: name }] } })
  }
  const listed = await app.call('GET', '/v2/queues', { project })
  expect(listed.json.queues.map(({ name }: { name: string }) => name)).toEqual(names.slice(2))
  for (const name of names.slice(2)) {
    const answer = await app.call('GET', `/v2/queues/${name}/messages?echo=true`, { project })
    expect(bodiesOf(answer)).toEqual([name])
  }
})

test('m-bad-item: a message that is not an object is rejected with 400', async () => {
  for (const item of ['x', 1, null, [], true]) {
    const answer = await app.call('POST', `${newQueue()}/messages`, { body: { messages: [item] } })
    expect(answer.status).toBe(400)
  }
})

test('q-patch-object: a patch that is an object is rejected with 400', async () => {
  const queue = newQueue()
  await app.call('PUT', queue)
  const headers = { 'Content-Type': 'application/openstack-messaging-v2.0-json-patch' }
  const answer = await app.call('PATCH', queue, {
    body: { op: 'add', path: '/metadata/a', value: 1 },
    headers,
  })
  expect(answer.status).toBe(400)
})

test('not atomic: extending and releasing a claim while its messages are deleted restores none', async () => {
  const queue = newQueue()
  await post(
    queue,
    Array.from({ length: 20 }, (_, at) => at),
  )
  const made = await app.call('POST', `${queue}/claims?limit=20`)
  const place = made.headers.get('location') ?? ''
  const hrefs: string[] = made.json.messages.map(({ href }: { href: string }) => href)

  const deleting = hrefs.map((href) => app.call('DELETE', href))
  const prolonging = hrefs.map(() => app.call('PATCH', place, { body: { ttl: 100 } }))
  const deleted = await Promise.all(deleting)
  await Promise.all(prolonging)
  await app.call('DELETE', place)

  expect(deleted.map(({ status }) => status)).toEqual(Array(20).fill(204))
  expect(bodiesOf(await pageOf(queue, '&include_claimed=true'))).toEqual([])
  expect((await app.call('GET', `${queue}/stats`)).json.messages).toEqual({ claimed: 0, free: 0, total: 0 })
})

test('not atomic: of many deletes and pops at once each message counts once', async () => {
  const queue = newQueue()
  const hrefs = await post(
    queue,
    Array.from({ length: 40 }, (_, at) => at),
  )

  const pops = hrefs.slice(0, 20).map(() => app.call('DELETE', `${queue}/messages?pop=1`))
  const deletes = hrefs.slice(30).map((href) => app.call('DELETE', href))
  const popped = (await Promise.all(pops)).flatMap(bodiesOf)
  await Promise.all(deletes)

  expect(new Set(popped).size).toBe(popped.length)
  const left = (await app.call('GET', `${queue}/stats`)).json.messages
  expect(left).toMatchObject({ claimed: 0, free: left.total })
})

test('retries: a post or a claim whose answer was lost on the way happens once', async () => {
  await using faults = await behindProxy()
  const { call, proxy } = faults

  await call('POST', '/v2/queues/lost/messages', { body: { messages: [{ body: 'first' }] } })
  proxy.cutReplies(1, /evalsha/i)
  const posted = await call('POST', '/v2/queues/lost/messages', { body: { messages: [{ body: 'second' }] } })
  const pendingAfterPost = proxy.pendingFaults
  proxy.cutReplies(1, /evalsha/i)
  const claimed = await call('POST', '/v2/queues/lost/claims?limit=1')

  expect([posted.status, pendingAfterPost, proxy.pendingFaults]).toEqual([201, 0, 0])
  expect(bodiesOf(claimed)).toEqual(['first'])
  expect((await call('GET', '/v2/queues/lost/stats')).json.messages).toMatchObject({
    claimed: 1,
    free: 1,
    total: 2,
  })
})

test('scripts missing: a server that has lost every script gets them again, and no client notices', async () => {
  await using faults = await behindProxy()
  for (const body of [1, 2]) {
    const posted = await faults.call('POST', '/v2/queues/q/messages', { body: { messages: [{ body }] } })
    expect(posted.status).toBe(201)
    await faults.client.script('FLUSH')
  }
  expect(bodiesOf(await faults.call('POST', '/v2/queues/q/claims'))).toEqual([1, 2])
})

async function behindProxy() {
  const redis = await startRedis()
  const proxy = await startProxy(redis.port)
  const own = await startApp(proxy.port, { limits: { metadataFreshMs: 60_000 } })
  return {
    proxy,
    call: own.call,
    client: own.client,
    async [Symbol.asyncDispose]() {
      await own[Symbol.asyncDispose]()
      await proxy.stop()
      await redis.stop()
    },
  }
}
