// Pushes are sent even if the server is out of memory, because waiting pushes may be what fills it.

import { setTimeout as sleep } from 'node:timers/promises'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { startRedis } from '../../../test/servers/redis.ts'
import { startApp, type TestApp, type TestAppOptions } from '../../testing/test-app.ts'
import { Agenda } from './agenda.ts'
import { MAX_OPEN, type OpenPush, type QueueSubscription } from '../subscriptions/subscription.ts'
import { placeOf } from '../queues/place.ts'
import { isNotification, type Received } from '../testing/receiver.ts'
import {
  confirmFor,
  openReceiver,
  post,
  subscribe,
  subscribeAndConfirm,
  waiting,
} from '../testing/webhook-app.ts'

vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.0/8')
afterAll(() => vi.unstubAllEnvs())

const EACH_SECOND = {
  _retry_policy: {
    retries_with_no_delay: 0,
    minimum_delay_retries: 90,
    minimum_delay: 1,
    maximum_delay: 1,
    maximum_delay_retries: 90,
  },
}

async function openApp(options: TestAppOptions = {}): Promise<TestApp> {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  const app = await startApp(server.port, options)
  onTestFinished(async () => {
    await app.client.config('SET', 'maxmemory', '0')
    await app[Symbol.asyncDispose]()
    await server.stop()
  })
  return app
}

// A receiver that has not answered yet is served by the slow queue; then it moves to the fast one.
test.each([
  ['quick', 0],
  ['silent', 1500],
])('pushes to a receiver that was %s go out on a full server, and leave it', async (_, afterMs) => {
  const app = await openApp()
  let isDown = false
  const receiver = await openReceiver((response, _before, letter) => {
    if (!isDown || !isNotification(letter)) response.end()
    else setTimeout(() => response.writeHead(500).end(), afterMs)
  })
  await subscribeAndConfirm(app, receiver, EACH_SECOND)
  isDown = true
  const bodies = Array.from({ length: 100 }, (_each, at) => at)
  await post(app, ...bodies)
  await receiver.wait(8, isNotification)
  await sleep(afterMs)

  await app.client.config('SET', 'maxmemory', '1')
  expect((await post(app, 'refused')).status).toBe(503)
  isDown = false
  const before = receiver.received.length
  const got = (): Set<unknown> => new Set(receiver.received.slice(before).map(({ json }) => json.body))
  while (got().size < 100) await sleep(50)
  while ((await waiting(app)) > 0) await sleep(50)

  expect(got()).toEqual(new Set(bodies))
})

test('a quick receiver that becomes slow gets each push once on a full server', async () => {
  const app = await openApp()
  let isSlow = false
  const receiver = await openReceiver((response) => {
    if (isSlow) setTimeout(() => response.end(), 1500)
    else response.end()
  })
  await subscribeAndConfirm(app, receiver)
  await post(app, 'first')
  await receiver.wait(1, isNotification)
  while ((await waiting(app)) > 0) await sleep(50)
  isSlow = true
  await post(app, ...Array.from({ length: 20 }, (_each, at) => at))
  await receiver.wait(2, isNotification)
  await app.client.config('SET', 'maxmemory', '1')

  while ((await waiting(app)) > 0) await sleep(50)

  const got = receiver.received.filter(isNotification).map(({ json }) => json.body)
  // Those that were cut off are sent once more.
  expect(got.length).toBeLessThanOrEqual(1 + 20 + 8)
  expect(new Set(got).size).toBe(21)
})

const THRICE = '["$zaqar_message$","$zaqar_message$","$zaqar_message$"]'
// Its letter would be too large, so it is given up at once.
const LARGE = 'x'.repeat(3000)

async function deadLetters(app: TestApp): Promise<unknown[]> {
  const { json } = await app.call('GET', '/v2/queues/dead/messages?echo=true')
  return json.messages.map(({ body }: { body: unknown }) => body)
}

async function openPushes(app: TestApp): Promise<readonly OpenPush[]> {
  const { entries } = await app.perilune
    .catalog<QueueSubscription>('subscriptions/p:test/q')
    .list({ limit: 1 })
  return entries.flatMap(({ document }) => document.progress.open)
}

test('a push whose dead letter finds no room waits alone, and the others are sent once', async () => {
  const app = await openApp({ limits: { maxMessagesPostSize: 4096, maxWebhookBody: 8192 } })
  const isPush = ({ json }: Received): boolean => json?.[0]?.Message_Type === 'Notification'
  let isDown = true
  const receiver = await openReceiver((response, _before, letter) =>
    response.writeHead(isDown && isPush(letter) ? 500 : 200).end(),
  )
  await app.call('PUT', '/v2/queues/q', { body: { _dead_letter_queue: 'dead' } })
  await confirmFor(app, await subscribe(app, receiver.url, { ...EACH_SECOND, post_data: THRICE }))
  // So many are retried next to new ones.
  const before = Array.from({ length: MAX_OPEN }, (_each, at) => at)
  const behind = Array.from({ length: 30 }, (_each, at) => 100 + at)
  await post(app, ...before)
  await receiver.wait(MAX_OPEN, isPush)
  await post(app, LARGE)
  await post(app, ...behind)

  await app.client.config('SET', 'maxmemory', '1')
  isDown = false
  const done = receiver.received.length
  const got = (): number[] =>
    receiver.received
      .slice(done)
      .map(({ json }) => Number(json[0].body))
      .toSorted((one, other) => one - other)
  while (new Set(got()).size < before.length + behind.length) await sleep(50)
  // Its dead letter has been tried again by then.
  while ((await openPushes(app)).every(({ unstored = 0 }) => unstored < 2)) await sleep(50)
  expect(await deadLetters(app)).toEqual([])
  expect((await openPushes(app)).length).toBe(1)

  await app.client.config('SET', 'maxmemory', '0')
  while ((await waiting(app)) > 0) await sleep(50)
  expect(await deadLetters(app)).toEqual([LARGE])
  expect(got().filter((body) => body >= 100)).toEqual(behind)
})

test('an idle subscription begins when a full server has room again', async () => {
  const app = await openApp()
  const receiver = await openReceiver()
  await app.call('PUT', '/v2/queues/q', { body: { _default_message_delay: 1 } })
  await subscribeAndConfirm(app, receiver)
  await post(app, 'late')
  await app.client.config('SET', 'maxmemory', '1')
  // Longer than its first tries take.
  await sleep(9000)
  expect(receiver.received.filter(isNotification)).toEqual([])

  await app.client.config('SET', 'maxmemory', '0')

  await receiver.wait(1, isNotification)
})

test('a full server removes pushes that all have passed, although a subscription has expired', async () => {
  const app = await openApp()
  let isDown = false
  const receiver = await openReceiver((response, _before, letter) =>
    response.writeHead(isDown && isNotification(letter) ? 500 : 200).end(),
  )
  await subscribeAndConfirm(app, receiver, EACH_SECOND)
  const expired = await subscribe(app, `${receiver.url}/expired`)
  isDown = true
  await post(app, 1, 2, 3)
  await receiver.wait(3, isNotification)
  const stored = app.perilune.catalog<QueueSubscription>('subscriptions/p:test/q')
  await stored.update(expired, (known) => ({ ...known, ttl: 0 }))
  await app.client.config('SET', 'maxmemory', '1')
  isDown = false

  while ((await waiting(app)) > 0) await sleep(50)

  expect((await stored.list({ limit: 2 })).entries).toHaveLength(2)
  await app.client.config('SET', 'maxmemory', '0')
  while ((await stored.list({ limit: 2 })).entries.length > 1) await sleep(50)
})

test('a queue that could not be tended on a full server is tended when it has room', async () => {
  const app = await openApp()
  const own = perilune(ioredis(app.client), { namespace: 'alone' })
  const agenda = new Agenda({ perilune: own, slots: 1, onError: () => undefined })
  onTestFinished(async () => {
    await agenda.close(1000)
    await own.close()
  })
  const place = placeOf('p:other/q')
  const tended = new Promise<string>((resolve) => {
    const nothing = async (): Promise<void> => undefined
    agenda.start({ push: nothing, ask: nothing, tend: async ({ queue }) => resolve(queue) })
  })
  await app.client.config('SET', 'maxmemory', '1')

  await agenda.tendNow(place)
  await app.client.config('SET', 'maxmemory', '0')

  expect(await tended).toBe('q')
})
