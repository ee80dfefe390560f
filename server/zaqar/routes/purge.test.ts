import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { startApp, type TestApp } from '../../testing/test-app.ts'

vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.1')

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

let queues = 0

/** A queue with a claimed message, a free one, and a subscription. */
async function setup(): Promise<string> {
  const queue = `/v2/queues/p${(queues += 1)}`
  await app.call('PUT', queue, { body: { kept: true } })
  await app.call('POST', `${queue}/messages`, { body: { messages: [{ body: 1 }, { body: 2 }] } })
  await app.call('POST', `${queue}/claims?limit=1`)
  // Nothing listens there.
  await app.call('POST', `${queue}/subscriptions`, { body: { subscriber: 'http://127.0.0.1:1024/' } })
  return queue
}

async function holdings(queue: string): Promise<{ messages: number; subscriptions: number }> {
  const stats = await app.call('GET', `${queue}/stats`)
  const { json } = await app.call('GET', `${queue}/subscriptions`)
  return { messages: stats.json.messages.total, subscriptions: json.subscriptions.length }
}

test.each([
  ['nothing said', undefined, { messages: 0, subscriptions: 0 }],
  ['both', { resource_types: ['subscriptions', 'messages'] }, { messages: 0, subscriptions: 0 }],
  ['messages', { resource_types: ['messages'] }, { messages: 0, subscriptions: 1 }],
  ['subscriptions', { resource_types: ['subscriptions'] }, { messages: 2, subscriptions: 0 }],
  ['an empty list', { resource_types: [] }, { messages: 2, subscriptions: 1 }],
])(
  'with %s it removes only those, including claimed messages, and the queue stays',
  async (_, body, left) => {
    const queue = await setup()

    const { status, text } = await app.call('POST', `${queue}/purge`, { body })

    expect([status, text]).toEqual([204, ''])
    expect(await holdings(queue)).toEqual(left)
    expect((await app.call('GET', queue)).json.kept).toBe(true)
  },
)

test('a purged queue accepts messages again, and its readers get a report of the loss', async () => {
  const queue = await setup()
  const page = await app.call('GET', `${queue}/messages?echo=true&include_claimed=true`)
  await app.call('POST', `${queue}/purge`)

  await app.call('POST', `${queue}/messages`, { body: { messages: [{ body: 'new' }] } })

  const next = await app.call('GET', page.json.links[0].href)
  expect(next.json.messages).toMatchObject([{ body: 'new' }])
  expect(next.headers.get('perilune-lost-before')).toBe('reset')
})

test.each(['{}', '[]', '{', '{"resource_types":"messages"}', '{"resource_types":["messages","claims"]}'])(
  '%s is rejected with 400 and removes nothing',
  async (body) => {
    const queue = await setup()
    expect((await app.call('POST', `${queue}/purge`, { body })).status).toBe(400)
    expect(await holdings(queue)).toEqual({ messages: 2, subscriptions: 1 })
  },
)
