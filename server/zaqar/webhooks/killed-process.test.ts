import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { startProgram } from '../../../test/zaqarclient/service.ts'
import { ALICE } from '../../testing/test-app.ts'
import { isConfirmation, isNotification, startReceiver } from '../testing/receiver.ts'

const HEADERS = { 'Client-ID': ALICE, 'X-Project-ID': 'p' }

const send = async (url: string, method: string, body: unknown): Promise<number> =>
  (await fetch(url, { method, headers: HEADERS, body: JSON.stringify(body) })).status

test('a push that a killed process was sending is sent again by another one', async () => {
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

test('processes that are killed again and again lose no push of any subscription', async () => {
  const environment = {
    REDIS_URL: `redis://127.0.0.1:${inject('redisPort')}`,
    PERILUNE_NAMESPACE: `t-${randomUUID()}`,
    PERILUNE_WEBHOOK_ALLOW: '127.0.0.1',
  }
  const PATHS = ['a', 'b', 'c']
  await using receiver = await startReceiver()
  let sent = 0
  const postSome = async (queue: string): Promise<void> => {
    for (let each = 0; each < 20; each += 1) {
      expect(await send(`${queue}/messages`, 'POST', { messages: [{ body: (sent += 1) }] })).toBe(201)
    }
  }
  let program = await startProgram(environment)
  for (const path of PATHS) {
    await send(`${program.url}/v2/queues/q/subscriptions`, 'POST', { subscriber: `${receiver.url}/${path}` })
  }
  for (const { json } of await receiver.wait(PATHS.length, isConfirmation)) {
    await send(json.WSGISubscribeURL, 'PUT', { confirmed: true })
  }

  for (let life = 0; life < 3; life += 1) {
    await postSome(`${program.url}/v2/queues/q`)
    await program.kill()
    program = await startProgram(environment)
  }
  await using _last = program

  const taken = new Set<string>()
  while (taken.size < PATHS.length * sent) {
    for (const { path, json } of receiver.received.filter(isNotification)) taken.add(`${path} ${json.body}`)
    await sleep(50)
  }
})
