// From the subscription to the push, over real HTTP in both directions.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { testClock } from 'perilune/testing'
import { afterAll, afterEach, expect, inject, test, vi } from 'vitest'
import { startApp, type TestAppOptions } from '../../testing/test-app.ts'
import { isConfirmation, isNotification, startReceiver } from '../testing/receiver.ts'
import { atOnce, confirm, post, subscribe, subscribeAndConfirm, waiting } from '../testing/webhook-app.ts'

vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.0/8')
afterAll(() => vi.unstubAllEnvs())

const used: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of used.splice(0).toReversed()) await one[Symbol.asyncDispose]()
})

function use<Used extends AsyncDisposable>(one: Used): Used {
  used.push(one)
  return one
}

/** Two retries without a delay. */
const FAST = atOnce(2)

async function setup(options: TestAppOptions = {}, answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = use(await startReceiver(answer))
  const app = use(await startApp(inject('redisPort'), options))
  return { app, receiver }
}

test('a subscriber is asked first, and gets each message posted after it has confirmed, unchanged', async () => {
  const { app, receiver } = await setup()
  const id = await subscribe(app, receiver.url)
  await post(app, 'too early')
  await confirm(receiver)
  const big = '{"n":9007199254740993,"x":1e400,  "e":[]}'

  const posted = await app.call('POST', '/v2/queues/q/messages', {
    body: `{"messages":[{"body":${big},"ttl":100},{"body":null}]}`,
  })
  const letters = await receiver.wait(2, isNotification)

  const [first = '', second] = posted.json.resources.map((path: string) => path.split('/').at(-1))
  expect(new Set(letters.map(({ json }) => json.id))).toEqual(new Set([first, second]))
  const letter = letters.find(({ json }) => json.id === first)
  expect(letter?.text).toContain(`"body":${big}`)
  expect(letter?.json).toMatchObject({ Message_Type: 'Notification', queue_name: 'q', ttl: 100 })
  expect(letter?.headers['content-type']).toBe('application/json')
  expect(receiver.received.filter(isNotification)).toHaveLength(2)
  const { json } = await app.call('GET', `/v2/queues/q/subscriptions/${id}`)
  expect(json.confirmed).toBe(true)
})

test('the confirmation names its queue and project and is only signed for that subscription', async () => {
  const { app, receiver } = await setup()
  const id = await subscribe(app, receiver.url)

  const [letter] = await receiver.wait(1, isConfirmation)

  const path = `/v2/queues/q/subscriptions/${id}/confirm`
  expect(letter?.json).toMatchObject({
    Message_Type: 'SubscriptionConfirmation',
    WSGISubscribeURL: app.url + path,
    'URL-Methods': 'PUT',
    'URL-Paths': path,
    'X-Project-ID': 'test',
    SubscribeBody: { confirmed: true },
    UnsubscribeBody: { confirmed: false },
  })
})

test('a push that fails is retried, and then is delivered once', async () => {
  const { app, receiver } = await setup({}, (response, _, { json }) => {
    const tries = receiver.received.filter((letter) => letter.json.id === json.id && isNotification(letter))
    response.writeHead(isNotification({ json } as never) && tries.length < 3 ? 500 : 204).end()
  })
  await subscribeAndConfirm(app, receiver, FAST)

  await post(app, 1)

  expect(await receiver.wait(3, isNotification)).toHaveLength(3)
  await post(app, 'last')
  await receiver.wait(6, isNotification)
  expect(receiver.received.filter(isNotification)).toHaveLength(6)
})

test('a push that is given up goes to the dead letter queue', async () => {
  const { app, receiver } = await setup({}, (response, _, letter) =>
    response.writeHead(isNotification(letter) ? 302 : 200, { Location: '/elsewhere' }).end(),
  )
  await app.call('PUT', '/v2/queues/q', { body: { _dead_letter_queue: 'dead', ...FAST } })
  await subscribeAndConfirm(app, receiver)

  await post(app, { poison: 1.0 })

  const read = () => app.call('GET', '/v2/queues/dead/messages')
  while ((await read()).json.messages.length === 0) await sleep(10)
  expect((await read()).json.messages).toMatchObject([{ body: { poison: 1 }, ttl: 3600 }])
  expect(receiver.received.filter(isNotification)).toHaveLength(3)
  expect(receiver.received.map(({ path }) => path)).not.toContain('/elsewhere')
  expect((await app.call('GET', '/v2/queues')).json.queues).toHaveLength(2)
})

test('options add header fields and wrap the message', async () => {
  const { app, receiver } = await setup()
  const options = { post_headers: { 'X-Key': 'k' }, post_data: '{"wrapped": "$zaqar_message$", "$&": 1}' }
  await subscribe(app, receiver.url, options)
  const [asked] = await receiver.wait(1)
  expect(asked?.json.wrapped.Message_Type).toBe('SubscriptionConfirmation')
  const id = (await app.call('GET', '/v2/queues/q/subscriptions')).json.subscriptions[0].id
  await app.call('PUT', `/v2/queues/q/subscriptions/${id}/confirm`, { body: { confirmed: true } })

  await post(app, "$'")

  const [, letter] = await receiver.wait(2)
  expect(letter?.headers['x-key']).toBe('k')
  expect(letter?.json).toMatchObject({ wrapped: { body: "$'" }, '$&': 1 })
})

test('a delayed message is pushed when it becomes visible', async () => {
  const { app, receiver } = await setup()
  await app.call('PUT', '/v2/queues/q', { body: { _default_message_delay: 1 } })
  await subscribeAndConfirm(app, receiver)

  await post(app, 1)
  const visible = async () => (await app.call('GET', '/v2/queues/q/messages?echo=true')).json.messages
  expect([...(await visible()), ...receiver.received.filter(isNotification)]).toEqual([])
  await receiver.wait(1, isNotification)

  expect(await visible()).toHaveLength(1)
})

test('messages posted after the clock of Redis has stepped back are pushed', async () => {
  const namespace = `t-${randomUUID()}`
  const { app, receiver } = await setup({ namespace })
  const before = perilune(ioredis(app.client), { namespace })
  testClock(before, { startsAt: new Date(Date.now() + 3_600_000) })
  await before.feed('webhooks/clock').append(0)
  await before.close()
  await subscribeAndConfirm(app, receiver)

  await post(app, 1, 2)

  await receiver.wait(2, isNotification)
})

test('a message that was delayed until its subscriber had confirmed is not pushed to it', async () => {
  const { app, receiver } = await setup()
  const other = use(await startReceiver())
  await app.call('PUT', '/v2/queues/q', { body: { _default_message_delay: 1 } })
  await subscribeAndConfirm(app, other)
  await post(app, 'early')
  await subscribeAndConfirm(app, receiver)
  await post(app, 'later')

  await other.wait(2, isNotification)
  const letters = await receiver.wait(1, isNotification)
  expect(letters.map(({ json }) => json.body)).toEqual(['later'])
  while ((await waiting(app)) > 0) await sleep(20)
  expect(receiver.received.filter(isNotification)).toHaveLength(1)
})

test('every subscriber of a queue gets every message, and those of other queues and projects get none', async () => {
  const { app, receiver } = await setup()
  const other = use(await startReceiver())
  await subscribeAndConfirm(app, receiver)
  await subscribeAndConfirm(app, other)
  await app.call('POST', '/v2/queues/q/messages', { body: { messages: [{ body: 1 }] }, project: 'another' })
  await app.call('POST', '/v2/queues/q2/messages', { body: { messages: [{ body: 2 }] } })

  await post(app, 3)

  for (const each of [receiver, other]) {
    await each.wait(1, isNotification)
    expect(each.received.filter(isNotification).map(({ json }) => json.body)).toEqual([3])
  }
})

test('a subscription that was removed, purged, or ended with its queue gets nothing any more', async () => {
  const { app, receiver } = await setup()
  const ends = [
    (id: string) => app.call('DELETE', `/v2/queues/q/subscriptions/${id}`),
    () => app.call('POST', '/v2/queues/q/purge', { body: { resource_types: ['subscriptions'] } }),
    () => app.call('DELETE', '/v2/queues/q'),
  ]
  for (const [at, end] of ends.entries()) {
    const id = await subscribe(app, receiver.url)
    await confirm(receiver, at + 1)
    expect((await end(id)).status).toBe(204)
    await post(app, 'no one hears this')
  }

  await subscribe(app, receiver.url)
  await confirm(receiver, ends.length + 1)
  await post(app, 'this one')
  const [letter] = await receiver.wait(1, isNotification)
  expect(letter?.json.body).toBe('this one')
})

test('a push for a subscription that was removed is not sent to the next one of the same subscriber', async () => {
  const { app, receiver } = await setup()
  await app.call('PUT', '/v2/queues/q', { body: { _default_message_delay: 1 } })
  const id = await subscribeAndConfirm(app, receiver)
  await post(app, 'old')
  await app.call('DELETE', `/v2/queues/q/subscriptions/${id}`)
  expect(await subscribe(app, receiver.url)).toBe(id)
  await confirm(receiver, 2)

  await post(app, 'new')

  await receiver.wait(1, ({ json }) => json.body === 'new')
  expect(receiver.received.filter(isNotification)).toHaveLength(1)
})

test('a subscriber that declines gets a farewell and no messages', async () => {
  const { app, receiver } = await setup()
  const id = await subscribeAndConfirm(app, receiver)

  await app.call('PUT', `/v2/queues/q/subscriptions/${id}/confirm`, { body: { confirmed: false } })
  await post(app, 1)

  const [farewell] = await receiver.wait(1, ({ json }) => json.Message_Type === 'UnsubscribeConfirmation')
  expect(farewell?.json.SubscribeBody).toEqual({ confirmed: true })
  expect(receiver.received.filter(isNotification)).toEqual([])
})

test('a subscriber that never answers is given up in time, and holds up no other one', async () => {
  const limits = { webhookTimeoutMs: 300, webhookConcurrency: 2 }
  const { app, receiver } = await setup({ limits })
  const silent = use(await startReceiver((response, before) => before === 0 && response.end()))
  await subscribeAndConfirm(app, silent, FAST)
  await subscribeAndConfirm(app, receiver)

  await post(app, 1, 2)

  await receiver.wait(2, isNotification)
  await silent.wait(6, isNotification)
})

test('an endless answer is a delivery, and is not read to the end', async () => {
  const { app, receiver } = await setup({}, (response, _, letter) => {
    if (!isNotification(letter)) return response.end()
    const pour = setInterval(() => response.write('x'.repeat(100_000)), 1)
    return response.on('close', () => clearInterval(pour))
  })
  await subscribeAndConfirm(app, receiver, FAST)

  await post(app, 1)

  await receiver.wait(1, isNotification)
  while ((await waiting(app)) > 0) await sleep(10)
  expect(receiver.received.filter(isNotification)).toHaveLength(1)
})

test('a confirmation through one process is pushed by another one', async () => {
  const namespace = `t-${randomUUID()}`
  vi.stubEnv('PERILUNE_SIGNING_SECRET', 'shared')
  const { app: one, receiver } = await setup({ namespace })
  // It would not look again for an hour: it must be notified.
  const limits = { metadataFreshMs: 3_600_000 }
  const other = use(await startApp(inject('redisPort'), { namespace, limits }))
  vi.stubEnv('PERILUNE_SIGNING_SECRET', '')
  await post(other, 'before')
  await subscribeAndConfirm(one, receiver)

  let count = 0
  while (receiver.received.filter(isNotification).length === 0) {
    await post(other, (count += 1))
    await sleep(20)
  }

  expect(count).toBeLessThan(50)
})
