import { randomUUID } from 'node:crypto'
import { expect, inject, test } from 'vitest'
import { startProgram } from '../../test/zaqarclient/service.ts'
import { ALICE } from '../testing/test-app.ts'
import { isConfirmation, isNotification, startReceiver } from './testing/receiver.ts'

const HEADERS = { 'Client-ID': ALICE, 'X-Project-ID': 'p' }

const send = async (url: string, method: string, body: unknown): Promise<number> =>
  (await fetch(url, { method, headers: HEADERS, body: JSON.stringify(body) })).status

test('a push that a killed process had under way is sent again by another one', async () => {
  const environment = {
    REDIS_URL: `redis://127.0.0.1:${inject('redisPort')}`,
    PERILUNE_NAMESPACE: `t-${randomUUID()}`,
    PERILUNE_WEBHOOK_ALLOW: '127.0.0.1',
    PERILUNE_WEBHOOK_TIMEOUT_MS: '1000',
  }
  const holding: unknown[] = []
  await using receiver = await startReceiver((response, _, letter) => {
    if (isNotification(letter) && holding.push(letter) === 1) return
    response.end()
  })
  const first = await startProgram(environment)
  const queue = `${first.url}/v2/queues/q`
  await send(`${queue}/subscriptions`, 'POST', { subscriber: receiver.url })
  const [asked] = await receiver.wait(1, isConfirmation)
  await send(asked?.json.WSGISubscribeURL, 'PUT', { confirmed: true })

  expect(await send(`${queue}/messages`, 'POST', { messages: [{ body: 'kept' }] })).toBe(201)
  await receiver.wait(1, isNotification)
  await first.kill()
  await using _second = await startProgram(environment)

  const letters = await receiver.wait(2, isNotification)
  expect(letters.map(({ json }) => json.body)).toEqual(['kept', 'kept'])
})
