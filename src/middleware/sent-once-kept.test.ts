// What happens to a response after it is stored: over HTTP/2, and when its client disconnects in the meantime.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer as createHttp2Server,
} from 'node:http2'
import { type AddressInfo, connect, type Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type NodeResponse, record } from './responses/record-node-response.ts'

const nothing = (): void => undefined

/** A gate at which storing a response waits. */
class Gate {
  open: () => void = nothing
  note: () => void = nothing
  readonly isOpen = new Promise<void>((resolve) => (this.open = resolve))
  readonly isReached = new Promise<void>((resolve) => (this.note = resolve))

  keep = async (): Promise<void> => {
    this.note()
    await this.isOpen
  }
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** A client of a server that records the answers of this handler. */
async function overHttp2(
  keep: () => Promise<void>,
  handle: (response: NodeResponse) => void,
): Promise<ClientHttp2Session> {
  const server = createHttp2Server((_, response) => {
    record(response as unknown as NodeResponse, { keep }, 1000)
    handle(response as unknown as NodeResponse)
  })
  const client = connectHttp2(`http://127.0.0.1:${await portOf(server)}`)
  onTestFinished(() => client.destroy())
  return client
}

const bodies: [how: string, handle: (response: NodeResponse) => void][] = [
  ['by its end', (response) => response.end('done')],
  ['before it', (response) => void [response.write('do'), response.end('ne')]],
  ['after a head', (response) => void [response.writeHead(200, { 'x-a': '1' }), response.end('done')]],
]

test.each(bodies)('over HTTP/2 a client receives everything written %s', async (_, handle) => {
  const client = await overHttp2(async () => undefined, handle)

  const asking = client.request({ ':path': '/' })
  let body = ''
  asking.on('data', (bytes) => (body += String(bytes)))
  await once(asking, 'close')

  expect(body).toBe('done')
})

test('a chunk written after the response was sent has no effect and causes no error', async () => {
  const taken: unknown[] = []
  const server = createServer((_, response) => {
    record(response, { keep: async () => undefined }, 1000)
    response.on('error', (error) => taken.push(error))
    response.once('finish', () => taken.push(response.write('more')))
    response.end('done')
  })

  const answer = await fetch(`http://127.0.0.1:${await portOf(server)}`)

  expect(await answer.text()).toBe('done')
  await expect.poll(() => taken).toEqual([false])
})

test('over HTTP/2 a response is closed when its client disconnects while it is stored', async () => {
  const gate = new Gate()
  let isClosed = false
  const client = await overHttp2(gate.keep, (response) => {
    response.once('close', () => (isClosed = true))
    response.end('done')
  })
  const asking = client.request({ ':path': '/' }).on('error', nothing)
  await gate.isReached

  asking.close(8)
  // The answer to the ping arrives after the server has processed the reset.
  await new Promise((resolve) => client.ping(resolve))
  await nextTurn()
  gate.open()

  await expect.poll(() => isClosed).toBe(true)
})

test('a connection is closed when its client disconnects while the response is stored', async () => {
  const gate = new Gate()
  let isClosed = false
  const server = createServer((_, response) => {
    record(response, { keep: gate.keep }, 1000)
    response.once('close', () => (isClosed = true))
    response.end('done')
  })
  let hasLeft: Promise<unknown> = Promise.resolve()
  // By then Node has ended its side too, and would close the connection.
  server.on('connection', (socket) => {
    hasLeft = once(socket, 'finish').then(() => nextTurn())
  })
  const socket = connect(await portOf(server), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
  await gate.isReached

  socket.destroy()
  await hasLeft
  gate.open()

  await expect.poll(() => isClosed).toBe(true)
  const count = (): Promise<number> =>
    new Promise((resolve) => server.getConnections((_, connections) => resolve(connections)))
  await expect.poll(count).toBe(0)
})

const short: [how: string, end: (response: ServerResponse) => unknown][] = [
  ['is too short', (response) => response.end('no')],
  ['is too long', (response) => response.end('much')],
  ['is too long in total', (response) => [response.write('mu'), response.end('ch')]],
]

test.each(short)('a body that %s is rejected at once when Node checks its length', async (_, end) => {
  const kept: unknown[] = []
  const codes: unknown[] = []
  const server = createServer((_request, response) => {
    record(response, { keep: async ({ body }) => void kept.push(body) }, 1000)
    response.strictContentLength = true
    response.setHeader('content-length', 3)
    try {
      end(response)
    } catch (error) {
      codes.push((error as { code?: unknown }).code)
    }
    response.destroy()
  })
  await expect(
    fetch(`http://127.0.0.1:${await portOf(server)}`).then((answer) => answer.text()),
  ).rejects.toThrow()

  expect(codes).toEqual(['ERR_HTTP_CONTENT_LENGTH_MISMATCH'])
  await expect.poll(() => kept).toEqual([null])
})
