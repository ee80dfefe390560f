// The stored data of subscriptions, under many concurrent requests, and after their end.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import type { HttpAnswer, TestApp } from '../../testing/test-app.ts'
import { openApp } from '../testing/webhook-app.ts'

vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.1')

// Nothing listens there.
const HOOK = 'http://127.0.0.1:1024'
const ALL = '/v2/queues/q/subscriptions'

const subscribe = (app: TestApp, path: string, ttl = 600): Promise<HttpAnswer> =>
  app.call('POST', ALL, { body: { subscriber: `${HOOK}/${path}`, ttl } })

const statuses = (answers: readonly HttpAnswer[]): number[] =>
  answers.map(({ status }) => status).toSorted((one, other) => one - other)

/** Keys without an expiry, except for those of the service's own jobs. */
async function lastingKeys({ client }: TestApp, namespace: string): Promise<string[]> {
  const keys = await client.keys(`${namespace}:*`)
  const lives = await Promise.all(keys.map((key) => client.ttl(key)))
  return keys.filter((key, at) => lives[at] === -1 && !key.includes('{queue:webhooks'))
}

test('a queue has no more subscriptions than its limit, even if they are created at once', async () => {
  const app = await openApp({ limits: { maxSubscriptionsPerQueue: 5 } })

  const made = await Promise.all(Array.from({ length: 30 }, (_, each) => subscribe(app, `${each}`)))

  expect(statuses(made)).toEqual([...Array(5).fill(201), ...Array(25).fill(403)])
  expect((await app.call('GET', ALL)).json.subscriptions).toHaveLength(5)
})

test('of several that get one subscriber at once, one has it', async () => {
  const app = await openApp()
  const made = await Promise.all(['a', 'b', 'c', 'd'].map((path) => subscribe(app, path)))
  const body = { subscriber: `${HOOK}/same` }

  const changed = await Promise.all(
    made.map(({ json }) => app.call('PATCH', `${ALL}/${json.subscription_id}`, { body })),
  )

  expect(statuses(changed)).toEqual([204, 409, 409, 409])
})

test('calls for subscriptions that never existed leave nothing behind', async () => {
  const namespace = `t-${randomUUID()}`
  const app = await openApp({ namespace })
  const confirmation = { body: { confirmed: true } }
  expect((await app.call('DELETE', `${ALL}/none`)).status).toBe(204)
  expect((await app.call('PATCH', `${ALL}/none`, { body: { ttl: 100 } })).status).toBe(404)
  expect((await app.call('PUT', `${ALL}/none/confirm`, confirmation)).status).toBe(404)
  expect((await app.call('POST', '/v2/queues/q/purge')).status).toBe(204)

  expect(await lastingKeys(app, namespace)).toEqual([])
})

test('no data stays of subscriptions that have expired or were removed', async () => {
  const namespace = `t-${randomUUID()}`
  const app = await openApp({ namespace, limits: { minSubscriptionTtl: 1 } })
  const options = { post_headers: { a: 'b' } }
  await app.call('POST', ALL, { body: { subscriber: `${HOOK}/short`, ttl: 1, options } })
  const removed = await subscribe(app, 'removed')
  await app.call('DELETE', `${ALL}/${removed.json.subscription_id}`)

  const kept = async () => (await lastingKeys(app, namespace)).filter((key) => /subscription/.test(key))
  expect(await kept()).not.toEqual([])
  while ((await kept()).length > 0) await sleep(50)
})
