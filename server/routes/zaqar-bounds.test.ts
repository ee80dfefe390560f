// What one permitted request may cost: whatever a client multiplies has a bound.

import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { zaqarLimits } from '../limits.ts'
import { type Answer, startApp, type TestApp } from '../testing/test-app.ts'

let app: TestApp
beforeAll(async () => {
  app = await startApp(inject('redisPort'))
})
afterAll(() => app[Symbol.asyncDispose]())

let queues = 0
const newQueue = (): string => `/v2/queues/bounds-${(queues += 1)}`

const post = (queue: string, count: number): Promise<Answer> =>
  app.call('POST', `${queue}/messages`, {
    body: { messages: Array.from({ length: count }, () => ({ body: 1 })) },
  })

test('a post of more messages than one request may have is refused with 400 and stores none', async () => {
  const queue = newQueue()
  const { maxMessagesPerPost } = zaqarLimits

  expect((await post(queue, maxMessagesPerPost + 1)).status).toBe(400)
  expect((await app.call('GET', `${queue}/stats`)).json.messages.total).toBe(0)
  expect((await post(queue, maxMessagesPerPost)).status).toBe(201)
})
