// The calls of the routes to Redis, and how several processes of the service work together.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { startRedis } from '../../../test/servers/redis.ts'
import { BOB, startApp, type TestApp } from '../../testing/test-app.ts'

const PATCH = { 'Content-Type': 'application/openstack-messaging-v2.0-json-patch' }

const post = (app: TestApp, queue: string, body: unknown = 1) =>
  app.call('POST', `/v2/queues/${queue}/messages`, { body: { messages: [{ body }] } })

const setTtl = (app: TestApp, queue: string, value: number) =>
  app.call('PATCH', `/v2/queues/${queue}`, {
    headers: PATCH,
    body: [{ op: 'add', path: '/metadata/_default_message_ttl', value }],
  })

async function namesIn(app: TestApp): Promise<string[]> {
  const { json } = await app.call('GET', '/v2/queues?limit=20')
  return json.queues.map(({ name }: { name: string }) => name)
}

async function ttls(app: TestApp, queue: string): Promise<number[]> {
  const { json } = await app.call('GET', `/v2/queues/${queue}/messages?echo=true&limit=20`)
  return json.messages.map(({ ttl }: { ttl: number }) => ttl)
}

test('a post, a page and a claim are one script call each', async () => {
  const redis = await startRedis()
  {
    await using app = await startApp(redis.port, { limits: { metadataFreshMs: 60_000 } })
    await post(app, 'q')
    const calls = async (work: Promise<unknown>): Promise<Record<string, number>> => {
      await work
      const text = await app.client.info('commandstats')
      await app.client.config('RESETSTAT')
      const counted = [...text.matchAll(/cmdstat_(eval|evalsha|script)(?:\|\w+)?:calls=(\d+)/g)]
      return Object.fromEntries(counted.map(([, command, count]) => [command, Number(count)]))
    }
    // The service also begins to listen for changes of subscriptions.
    while (Object.keys(await calls(sleep(100))).length > 0);

    expect(await calls(post(app, 'q'))).toEqual({ evalsha: 1 })
    const messages = Array.from({ length: 20 }, (_, body) => ({ body }))
    expect(await calls(app.call('POST', '/v2/queues/q/messages', { body: { messages } }))).toEqual({
      evalsha: 1,
    })
    expect(await calls(app.call('GET', '/v2/queues/q/messages?echo=true&limit=20'))).toEqual({ evalsha: 1 })
    expect(await calls(app.call('POST', '/v2/queues/q/claims?limit=20'))).toEqual({ evalsha: 1 })
    expect(await calls(app.call('GET', '/v2/queues/q/stats'))).toEqual({ evalsha: 1 })
    expect(await calls(app.call('DELETE', '/v2/queues/q/messages/1'))).toEqual({ evalsha: 1 })
  }
  await redis.stop()
})

test('a queue that another process deleted is registered again by the next post', async () => {
  const namespace = `t-${randomUUID()}`
  const options = { namespace, limits: { metadataFreshMs: 60_000 } }
  await using one = await startApp(inject('redisPort'), options)
  await using other = await startApp(inject('redisPort'), options)
  await post(one, 'q')
  await other.call('DELETE', '/v2/queues/q')
  expect(await namesIn(one)).toEqual([])

  await post(one, 'q')

  expect(await namesIn(other)).toEqual(['q'])
})

test('a queue that another process created with metadata keeps it when this one posts', async () => {
  const namespace = `t-${randomUUID()}`
  await using one = await startApp(inject('redisPort'), { namespace })
  await using other = await startApp(inject('redisPort'), { namespace })
  await one.call('POST', '/v2/queues/q/claims')
  await other.call('PUT', '/v2/queues/q', { body: { a: 1 } })

  await post(one, 'q')

  expect((await one.call('GET', '/v2/queues/q')).json.a).toBe(1)
})

test('metadata that another process changed takes effect after a moment, and is shown at once', async () => {
  const namespace = `t-${randomUUID()}`
  const options = { namespace, limits: { metadataFreshMs: 50 } }
  await using one = await startApp(inject('redisPort'), options)
  await using other = await startApp(inject('redisPort'), options)
  await post(one, 'q')
  await setTtl(other, 'q', 90)
  expect((await one.call('GET', '/v2/queues/q')).json._default_message_ttl).toBe(90)

  while ((await ttls(one, 'q')).at(-1) !== 90) {
    await one.call('DELETE', '/v2/queues/q/messages?pop=20')
    await post(one, 'q')
    await sleep(20)
  }
})

test('metadata that was not used for long is refreshed before its use', async () => {
  const namespace = `t-${randomUUID()}`
  const options = { namespace, limits: { metadataFreshMs: 1 } }
  await using one = await startApp(inject('redisPort'), options)
  await using other = await startApp(inject('redisPort'), options)
  await post(one, 'q')
  await setTtl(other, 'q', 90)
  await sleep(50)

  await post(one, 'q')

  expect(await ttls(one, 'q')).toEqual([3600, 90])
})

test('more queues than a process remembers are all served', async () => {
  await using app = await startApp(inject('redisPort'), { limits: { maxRememberedQueues: 2 } })
  const names = ['a', 'b', 'c', 'd']
  for (const name of [...names, ...names]) expect((await post(app, name)).status).toBe(201)
  expect(await namesIn(app)).toEqual(names)
  expect(await ttls(app, 'a')).toHaveLength(2)
})

test('a message claimed too often goes to the dead letter queue: after two claims, with the life given there', async () => {
  await using app = await startApp(inject('redisPort'))
  const body = { _max_claim_count: 2, _dead_letter_queue: 'dead.q', _dead_letter_queue_messages_ttl: 500 }
  await app.call('PUT', '/v2/queues/q', { body })
  await post(app, 'q', { poison: [] })
  const claim = async (queue = 'q') => app.call('POST', `/v2/queues/${queue}/claims`, { client: BOB })
  for (let count = 0; count < 2; count += 1) {
    await app.call('DELETE', (await claim()).headers.get('location') ?? '')
  }

  expect((await claim()).status).toBe(204)
  while (!(await namesIn(app)).includes('dead.q')) await sleep(10)

  const dead = await app.call('GET', '/v2/queues/dead.q/messages', { client: BOB })
  expect(dead.json.messages).toHaveLength(1)
  expect(dead.json.messages[0]).toMatchObject({ body: { poison: [] }, ttl: 500 })
  expect((await app.call('GET', '/v2/queues/q/stats')).json.messages.total).toBe(0)
})

test('without a dead letter queue a message may be claimed forever', async () => {
  await using app = await startApp(inject('redisPort'))
  await app.call('PUT', '/v2/queues/q', { body: { _max_claim_count: 1 } })
  await post(app, 'q')
  for (let count = 0; count < 3; count += 1) {
    const claim = await app.call('POST', '/v2/queues/q/claims')
    expect(claim.status).toBe(201)
    await app.call('DELETE', claim.headers.get('location') ?? '')
  }
})
