// An app whose subscribers are on this machine, and helpers for tests.

import { expect, inject, onTestFinished } from 'vitest'
import { type HttpAnswer, BOB, startApp, type TestApp, type TestAppOptions } from '../../testing/test-app.ts'
import { isConfirmation, type Receiver, startReceiver } from './receiver.ts'

/** A retry policy of `count` retries without a delay. */
export const atOnce = (count: number): object => ({
  _retry_policy: {
    retries_with_no_delay: count,
    minimum_delay_retries: 0,
    minimum_delay: 5,
    maximum_delay: 9,
    maximum_delay_retries: 0,
  },
})

/** Needs PERILUNE_WEBHOOK_ALLOW for 127.0.0.0/8. Ends with the test. */
export async function openApp(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await startApp(inject('redisPort'), options)
  onTestFinished(() => app[Symbol.asyncDispose]())
  return app
}

/** Ends with the test, and before apps that were opened earlier. */
export async function openReceiver(answer?: Parameters<typeof startReceiver>[0]): Promise<Receiver> {
  const receiver = await startReceiver(answer)
  onTestFinished(() => receiver[Symbol.asyncDispose]())
  return receiver
}

export const post = (app: TestApp, ...bodies: unknown[]): Promise<HttpAnswer> =>
  app.call('POST', '/v2/queues/q/messages', { body: { messages: bodies.map((body) => ({ body })) } })

export async function subscribe(app: TestApp, subscriber: string, options: object = {}): Promise<string> {
  const body = { subscriber, ttl: 600, options }
  const { status, json } = await app.call('POST', '/v2/queues/q/subscriptions', { body })
  expect(status).toBe(201)
  return json.subscription_id
}

/** Confirms as a subscriber, only with the data that it received. */
export async function confirm({ wait }: Receiver, count = 1): Promise<void> {
  const letter = (await wait(count, isConfirmation)).at(-1)?.json
  const headers = Object.fromEntries(
    ['URL-Signature', 'URL-Methods', 'URL-Paths', 'URL-Expires', 'X-Project-ID'].map((name) => [
      name,
      letter[name],
    ]),
  )
  const body = JSON.stringify(letter.SubscribeBody)
  const url = letter.WSGISubscribeURL
  const { status } = await fetch(url, { method: 'PUT', headers: { ...headers, 'Client-ID': BOB }, body })
  expect(status).toBe(204)
}

export async function subscribeAndConfirm(
  app: TestApp,
  receiver: Receiver,
  options: object = {},
): Promise<string> {
  const id = await subscribe(app, receiver.url, options)
  await confirm(receiver)
  return id
}

/** Confirms as a client of the project, for a silent subscriber. */
export async function confirmFor(app: TestApp, id: string): Promise<void> {
  const body = { confirmed: true }
  const { status } = await app.call('PUT', `/v2/queues/q/subscriptions/${id}/confirm`, { body })
  expect(status).toBe(204)
}

/** The number of waiting pushes. */
export const waiting = async (app: TestApp): Promise<number> =>
  (await app.perilune.feed('webhooks/p:test/q').inspect()).total
