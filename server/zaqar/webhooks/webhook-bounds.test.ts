// Everything that a tenant can multiply has a bound, and one receiver holds up no other.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test, vi } from 'vitest'
import { readLimits } from '../settings/limits.ts'
import type { TestApp } from '../../testing/test-app.ts'
import { isNotification } from '../testing/receiver.ts'
import {
  atOnce,
  confirmFor,
  openApp,
  openReceiver,
  post,
  subscribe,
  subscribeAndConfirm,
  waiting,
} from '../testing/webhook-app.ts'

vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.0/8')
vi.stubEnv('PERILUNE_SIGNING_SECRET', 'shared')
afterAll(() => vi.unstubAllEnvs())

const PLACE = '"$zaqar_message$"'

async function bodiesIn(app: TestApp, queue: string): Promise<unknown[]> {
  const { json } = await app.call('GET', `/v2/queues/${queue}/messages?echo=true`)
  return json.messages.map(({ body }: { body: unknown }) => body)
}

test('post_data of which every letter would be too large is rejected with 400', async () => {
  const app = await openApp()
  const body = { subscriber: 'http://127.0.0.1:1024/', options: { post_data: PLACE.repeat(3000) } }

  const refused = await app.call('POST', '/v2/queues/q/subscriptions', { body })

  expect([refused.status, refused.json.description]).toEqual([
    400,
    'post_data contains the message 3000 times: each letter would exceed the limit of 1048576 bytes.',
  ])
})

test('a letter that would be too large is given up at once and named in the log, and the next one is sent', async () => {
  const app = await openApp({ limits: { maxMessagesPostSize: 4096, maxWebhookBody: 8192 } })
  const receiver = await openReceiver()
  await app.call('PUT', '/v2/queues/q', { body: { _dead_letter_queue: 'dead' } })
  const id = await subscribe(app, receiver.url, { post_data: `[${PLACE},${PLACE},${PLACE}]` })
  await receiver.wait(1)
  await confirmFor(app, id)
  const large = 'x'.repeat(3000)

  await post(app, large)
  await post(app, 'small')

  const [, letter] = await receiver.wait(2)
  expect(letter?.json).toHaveLength(3)
  while ((await bodiesIn(app, 'dead')).length === 0) await sleep(10)
  expect(await bodiesIn(app, 'dead')).toEqual([large])
  while ((await waiting(app)) > 0) await sleep(20)
  expect(receiver.received).toHaveLength(2)
})

test('a post stores one copy for all subscriptions, whatever their number', async () => {
  const app = await openApp()
  const silent = await openReceiver(() => undefined)
  for (let each = 0; each < 10; each += 1) {
    await confirmFor(app, await subscribe(app, `${silent.url}/${each}`))
  }

  await post(app, ...Array.from({ length: 500 }, (_, at) => at))

  expect(await waiting(app)).toBe(500)
})

test('silent receivers hold up no other one, though each may use its full time', async () => {
  const app = await openApp({ limits: { webhookSubscribers: 1, webhookTimeoutMs: 600_000 } })
  const [receiver, silent] = [await openReceiver(), await openReceiver(() => undefined)]
  await subscribeAndConfirm(app, receiver)
  for (const path of ['a', 'b', 'c']) await confirmFor(app, await subscribe(app, `${silent.url}/${path}`))

  for (let each = 0; each < 30; each += 1) await post(app, each)

  const letters = await receiver.wait(30, isNotification)
  expect(letters.map(({ json }) => json.body).toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 30 }, (_, at) => at),
  )
})

test('silent receivers of one tenant, more than are served at once, take turns with others of it', async () => {
  const app = await openApp({
    limits: { webhookSubscribers: 1, webhookTimeoutMs: 200, webhookConcurrency: 1 },
  })
  const [receiver, silent] = [await openReceiver(), await openReceiver(() => undefined)]
  const paths = ['a', 'b', 'c']
  for (const path of paths) await confirmFor(app, await subscribe(app, `${silent.url}/${path}`))
  await post(app, ...Array.from({ length: 60 }, (_, at) => at))
  await silent.wait(5, isNotification)
  const before = silent.received.length

  await subscribe(app, receiver.url)
  await receiver.wait(1)
  const meanwhile = silent.received.length - before
  const served = (): Set<string> => new Set(silent.received.slice(before).map(({ path }) => path))
  while (served().size < paths.length) await sleep(10)

  expect(meanwhile).toBeLessThan(20)
})

test('questions that are retried take turns with those of later subscriptions', async () => {
  const app = await openApp({ limits: { webhookSubscribers: 1, webhookTimeoutMs: 200 } })
  const [receiver, silent] = [await openReceiver(), await openReceiver(() => undefined)]
  for (const path of ['a', 'b', 'c']) await subscribe(app, `${silent.url}/${path}`, atOnce(50))
  await silent.wait(4)
  const before = silent.received.length

  await subscribe(app, receiver.url)
  await receiver.wait(1)

  expect(silent.received.length - before).toBeLessThan(10)
})

test('receivers that answer with another protocol hold up no other one', async () => {
  const app = await openApp({ limits: { webhookSubscribers: 1 } })
  const receiver = await openReceiver()
  const other = await openReceiver(
    ({ socket }) => void socket?.write('HTTP/1.1 101 Other\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
  )
  for (const path of ['a', 'b']) await confirmFor(app, await subscribe(app, `${other.url}/${path}`))
  await other.wait(2)

  await subscribeAndConfirm(app, receiver)
  await post(app, 'here')

  await receiver.wait(1, isNotification)
})

test('receivers that fall silent hold up no other one', async () => {
  const app = await openApp({ limits: { webhookSubscribers: 1, webhookTimeoutMs: 600_000 } })
  const receiver = await openReceiver()
  const silent = await openReceiver((response, _, letter) => isNotification(letter) || response.end())
  await subscribeAndConfirm(app, receiver)
  for (const path of ['a', 'b', 'c']) {
    const id = await subscribe(app, `${silent.url}/${path}`)
    await silent.wait(1, (letter) => letter.path.endsWith(path))
    await confirmFor(app, id)
  }

  for (let each = 0; each < 30; each += 1) await post(app, each)

  const letters = await receiver.wait(30, isNotification)
  expect(new Set(letters.map(({ json }) => json.body)).size).toBe(30)
})

test('a receiver that falls silent, and answers late, loses nothing, and its late tries do not count', async () => {
  const app = await openApp()
  let isLate = true
  const receiver = await openReceiver((response, _, letter) => {
    if (!isNotification(letter) || !isLate) response.end()
    else isLate = false
  })
  await subscribeAndConfirm(app, receiver, atOnce(0))

  await post(app, 'late')

  const letters = await receiver.wait(2, isNotification)
  expect(letters.map(({ json }) => json.body)).toEqual(['late', 'late'])
  while ((await waiting(app)) > 0) await sleep(20)
})

test('a message that its receiver rejects holds up no other one', async () => {
  const app = await openApp()
  const receiver = await openReceiver((response, _, { json }) =>
    response.writeHead(json.body === 'poison' ? 500 : 200).end(),
  )
  await subscribeAndConfirm(app, receiver, { _retry_policy: { retries_with_no_delay: 0, minimum_delay: 30 } })

  await post(app, 'poison')
  for (const body of ['a', 'b', 'c']) await post(app, body)

  const isOther = (letter: { json: { body: unknown } }) => letter.json.body !== 'poison'
  await receiver.wait(3, (letter) => isNotification(letter) && isOther(letter))
  expect(await waiting(app)).toBeGreaterThan(0)
})

test('a receiver that accepts nothing has a bounded number of pushes in progress, and gets the rest once it accepts', async () => {
  const app = await openApp()
  let isUp = false
  const receiver = await openReceiver((response, _, letter) =>
    response.writeHead(isUp || !isNotification(letter) ? 200 : 503).end(),
  )
  const policy = { retries_with_no_delay: 0, minimum_delay: 1, minimum_delay_retries: 100 }
  await subscribeAndConfirm(app, receiver, { _retry_policy: policy })

  await post(app, ...Array.from({ length: 300 }, (_, at) => at))
  await receiver.wait(100, isNotification)
  const tried = new Set(receiver.received.filter(isNotification).map(({ json }) => json.body))
  isUp = true
  const taken = new Set<unknown>()
  const from = receiver.received.length
  while (taken.size < 300) {
    for (const { json } of receiver.received.slice(from)) taken.add(json.body)
    await sleep(20)
  }

  expect(tried.size).toBeLessThanOrEqual(64)
  while ((await waiting(app)) > 0) await sleep(20)
})

test('closing does not wait for a silent receiver, and the push is sent by the next process', async () => {
  const namespace = `t-${randomUUID()}`
  const limits = { webhookTimeoutMs: 600_000 }
  let isSilent = true
  const receiver = await openReceiver((response, _, letter) => {
    if (!isSilent || !isNotification(letter)) response.end()
  })
  const app = await openApp({ namespace, limits })
  await subscribeAndConfirm(app, receiver, atOnce(0))
  await post(app, 'kept')
  await receiver.wait(1, isNotification)

  await app[Symbol.asyncDispose]()
  isSilent = false
  await openApp({ namespace, limits })

  const letters = await receiver.wait(2, isNotification)
  expect(letters.map(({ json }) => json.body)).toEqual(['kept', 'kept'])
})

test('a stored push without a notification is found as long as anything is left', async () => {
  const app = await openApp()
  const receiver = await openReceiver((response, _, { json }) =>
    response.writeHead(json.body === 'refused' ? 500 : 200).end(),
  )
  await subscribeAndConfirm(app, receiver, { _retry_policy: { retries_with_no_delay: 0, minimum_delay: 30 } })
  await post(app, 'refused')
  await receiver.wait(1, isNotification)

  const lost = { Message_Type: 'Notification', body: 'of a process that died' }
  await app.perilune.feed('webhooks/p:test/q').append(lost)

  await receiver.wait(1, ({ json }) => json.body === lost.body)
})

test('the largest message that a service can be configured to accept is pushed', async () => {
  const most = 4 * 1024 * 1024 - 1024
  const app = await openApp({ limits: { maxMessagesPostSize: most, maxWebhookBody: 2 * most } })
  const receiver = await openReceiver()
  await subscribeAndConfirm(app, receiver)
  const body = `{"messages":[{"body":"${'x'.repeat(most - 26)}"}]}`

  const posted = await app.call('POST', '/v2/queues/q/messages', { body })

  expect(posted.status).toBe(201)
  const [letter] = await receiver.wait(1, isNotification)
  expect(letter?.json.body).toHaveLength(most - 26)
})

test('no post may be larger than what can be pushed', () => {
  const environment = { PERILUNE_MAX_MESSAGES_POST_SIZE: String(4 * 1024 * 1024) }
  expect(() => readLimits(environment)).toThrow(/^PERILUNE_MAX_MESSAGES_POST_SIZE must be/)
})
