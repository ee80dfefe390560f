// Large answers that one tenant does not read keep no other tenant waiting, and their memory has a bound.

import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, expect, inject, test } from 'vitest'
import { openSocket, send } from './testing/raw-request.ts'
import { startApp, type TestApp, type TestAppOptions } from './testing/test-app.ts'
import { Unsent } from './http/answers/unsent.ts'

const MIB = 1024 * 1024
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

const PAGE = '/v1/feeds/large/messages?limit=1000'

/** An app with 3.6 MB of messages that the tenant `test` has read. `reads` returns the reads since then. */
async function withLargePage(options: TestAppOptions = {}): Promise<TestApp & { reads: () => number }> {
  const app = await startApp(inject('redisPort'), options)
  const messages = Array.from({ length: 40 }, () => ({ body: 'x'.repeat(90_000) }))
  await app.call('POST', '/v1/feeds/large/messages', { body: { messages } })
  let reads = 0
  const { sendCommand } = app.client
  app.client.sendCommand = function (command, ...rest) {
    if (command.args.some((arg) => String(arg).includes('{feed:v1%3Atest/large}:log'))) reads += 1
    return sendCommand.call(this, command, ...rest)
  }
  expect((await app.call('GET', PAGE)).status).toBe(200)
  return Object.assign(app, { reads: () => reads - 1 })
}

/** A client that pipelines these requests and reads no answer. */
async function ask({ url }: TestApp, count: number, path = PAGE): Promise<Socket> {
  const socket = await openSocket(url)
  sockets.push(socket.pause())
  for (let at = 0; at < count; at += 1) send(socket, { path, headers: ['X-Project-ID: test'] })
  return socket
}

/** Sends requests of another tenant one after the other: by their end, the earlier requests have begun. */
async function bystander(app: TestApp, times: number): Promise<number[]> {
  const statuses: number[] = []
  for (let at = 0; at < times; at += 1) {
    const { status } = await app.call('GET', '/v1/feeds/small/messages', { project: 'other' })
    statuses.push(status)
  }
  return statuses
}

const all200 = (times: number): number[] => Array.from({ length: times }, () => 200)

test('reads whose clients have left before they were sent are not sent', async () => {
  await using app = await withLargePage()

  for (let round = 0; round < 5; round += 1) {
    const asking = await Promise.all(Array.from({ length: 40 }, () => ask(app, 1)))
    await bystander(app, 1)
    for (const socket of asking) socket.destroy()
    await bystander(app, 1)
  }
  expect(await bystander(app, 5)).toEqual(all200(5))
  expect(app.reads()).toBeLessThan(100)
})

test('a page ends after the message with which its bodies reach 1 MiB, and the next page continues there', async () => {
  await using app = await withLargePage()

  const { json: page } = await app.call('GET', PAGE)
  const { json: on } = await app.call('GET', `${PAGE}&after=${page.next}`)

  expect([page.messages.length, page.more, on.messages.length, on.more]).toEqual([12, true, 12, true])
})

test('another tenant is answered while sixteen clients read the largest pages', async () => {
  await using app = await withLargePage()
  let over = false
  const readers = Array.from({ length: 16 }, async () => {
    while (!over) await app.call('GET', PAGE)
  })

  expect(await bystander(app, 20)).toEqual(all200(20))
  over = true
  await Promise.all(readers)
})

test('a client that never reads has no more answers made for it than its socket accepts', async () => {
  await using app = await withLargePage()

  await ask(app, 300)
  expect(await bystander(app, 30)).toEqual(all200(30))
  // Some megabytes are in the kernel.
  expect(app.reads()).toBeLessThan(10)
})

test('clients of one tenant that never read have a common bound, and other tenants still get large pages', async () => {
  const unsent = new Unsent({ mostBytes: 32 * MIB })
  await using app = await withLargePage({ unsent })
  const messages = Array.from({ length: 40 }, () => ({ body: 'x'.repeat(90_000) }))
  await app.call('POST', '/v1/feeds/large/messages', { body: { messages }, project: 'other' })

  await Promise.all(Array.from({ length: 60 }, () => ask(app, 5)))
  for (let at = 0; at < 20; at += 1) {
    expect((await app.call('GET', PAGE, { project: 'other' })).status).toBe(200)
  }
  // Half of the bound, and the answers in progress.
  expect(unsent.bytes).toBeLessThan(28 * MIB)
})

test('closing does not wait long for a client that reads nothing', async () => {
  const app = await withLargePage({ unsent: new Unsent({ patienceMs: 300 }) })
  const silent = await ask(app, 3)
  await bystander(app, 1)

  await app[Symbol.asyncDispose]()
  await once(silent.resume(), 'close')
})

test('pipelined requests on one connection are processed in their order', async () => {
  await using app = await startApp(inject('redisPort'))
  const socket = await openSocket(app.url)
  sockets.push(socket)
  const headers = ['X-Project-ID: test', 'Content-Type: application/json']
  const path = '/v1/feeds/f/messages'
  for (let at = 0; at < 40; at += 1) {
    send(socket, { method: 'POST', path, headers, body: `{"body":${at}}` })
    send(socket, { path: `${path}?limit=100`, headers: ['X-Project-ID: test'] })
  }

  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  while (text.split('HTTP/1.1 2').length <= 80 || !text.endsWith('}')) await once(socket, 'data')
  const pages = [...text.matchAll(/\{"messages":\[\{"id":"\d+","cursor".*\}/g)].filter(([page]) =>
    page.includes('"more"'),
  )
  expect(pages.map(([page]) => page.split('"body":').length - 1)).toEqual(
    Array.from({ length: 40 }, (_, at) => at + 1),
  )
})
