import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, expect, inject, onTestFinished, test } from 'vitest'
import { Bodies, type BodiesTerms } from './bodies.ts'
import { openSocket, readStatus, send } from '../../testing/raw-request.ts'
import { startApp, type TestApp } from '../../testing/test-app.ts'

const MIB = 1024 * 1024
const sockets: Socket[] = []

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** A request whose body arrives as the test says. */
class Upload extends EventEmitter {
  readonly socket = { bytesRead: 0 }
  complete = false
}

interface Admitted {
  readonly upload: Upload
  readonly response: EventEmitter
  /** `waits`, `begins`, or the error. */
  state: string
}

function room(terms: Partial<BodiesTerms> = {}): {
  bodies: Bodies
  admit(share: string, mib?: number, answer?: { closed: boolean }): Promise<Admitted>
} {
  const giveUp = (request: IncomingMessage): void => void request.emit('given up')
  const bodies = new Bodies({ giveUp, ...terms })
  return {
    bodies,
    async admit(share, mib = 4, answered = { closed: false }) {
      const [upload, response] = [new Upload(), Object.assign(new EventEmitter(), answered)]
      upload.once('given up', () => response.emit('close'))
      const admitted: Admitted = { upload, response, state: 'waits' }
      const request = upload as unknown as IncomingMessage
      const answer = response as unknown as ServerResponse
      bodies.admit(share, mib * MIB, request, answer).then(
        () => (admitted.state = 'begins'),
        (error: Error) => (admitted.state = error.message),
      )
      await soon(0)
      return admitted
    },
  }
}

test('large bodies of a share wait when half of the room is taken, and hold up no other share', async () => {
  const { bodies, admit } = room()
  const first = []
  for (let at = 0; at < 10; at += 1) first.push(await admit('a'))
  expect(first.map(({ state }) => state)).toEqual([...Array(8).fill('begins'), 'waits', 'waits'])
  expect((await admit('b')).state).toBe('begins')
  expect((await admit('a', 0.01)).state).toBe('begins')
  expect(bodies.bytes).toBe(36 * MIB)

  first[0]?.response.emit('close')
  await soon(0)
  expect(first.slice(8).map(({ state }) => state)).toEqual(['begins', 'waits'])
})

test('a body that stalls or trickles gives up its place if others wait; one that keeps arriving keeps it', async () => {
  const { admit } = room({ mostBytes: 16 * MIB, patienceMs: 600 })
  const [still, coming, complete] = [await admit('a', 2), await admit('a', 2), await admit('a', 2)]
  const trickle = await admit('a', 2)
  complete.upload.complete = true
  const waiting = await admit('a')
  const trickling = setInterval(() => {
    coming.upload.socket.bytesRead += 20_000
    trickle.upload.socket.bytesRead += 1
  }, 50)
  const given: string[] = []
  still.upload.once('given up', () => given.push('still'))
  trickle.upload.once('given up', () => given.push('trickle'))
  coming.upload.once('given up', () => given.push('coming'))
  complete.upload.once('given up', () => given.push('complete'))

  while (waiting.state === 'waits') await soon(20)
  clearInterval(trickling)
  expect([waiting.state, given]).toEqual(['begins', ['still', 'trickle']])
})

test('a body whose client has left before gets no room', async () => {
  const { bodies, admit } = room()
  const left = await admit('a', 4, { closed: true })
  expect([left.state, bodies.bytes]).toEqual(['the client has left', 0])
})

test('a body that waits too long is rejected, and one whose client leaves is forgotten', async () => {
  const { bodies, admit } = room({ mostBytes: 8 * MIB, waitMs: 100 })
  await admit('a')
  const [late, left] = [await admit('a'), await admit('a')]
  left.response.emit('close')
  await soon(0)
  expect([late.state, left.state]).toEqual(['waits', 'the client has left'])
  while (late.state === 'waits') await soon(20)
  expect(late.state).toBe('Too many large requests are being received. Please try again.')
  expect(bodies.bytes).toBe(4 * MIB)
})

/** A large append that sends all but the last byte. */
async function stall({ url }: TestApp): Promise<{ socket: Socket; status: Promise<number> }> {
  const socket = await openSocket(url)
  sockets.push(socket)
  const status = readStatus(socket)
  const body = JSON.stringify({ messages: [{ body: 'x'.repeat(4_000_000) }] })
  const headers = ['X-Project-ID: test', 'Content-Type: application/json']
  send(socket, { method: 'POST', path: '/v1/feeds/large/messages', headers, body, length: body.length + 1 })
  return { socket, status }
}

test('clients whose large bodies stall have a common bound, hold up no other tenant, and get an answer', async () => {
  await using app = await startApp(inject('redisPort'))
  const stalled = []
  for (let at = 0; at < 12; at += 1) stalled.push(await stall(app))
  const messages = [{ body: 'x'.repeat(1_000_000) }]

  expect(
    (await app.call('POST', '/v1/feeds/f/messages', { project: 'other', body: { messages } })).status,
  ).toBe(201)
  const statuses: number[] = []
  for (const { status } of stalled) void status.then((each) => statuses.push(each))
  // At least as many had not begun as are given up.
  while (statuses.length < 3) await soon(50)
  for (const { socket } of stalled) socket.write(' ')
  await Promise.all(stalled.map(({ status }) => status))
  const [late, done] = [408, 201].map((each) => statuses.filter((status) => status === each).length)
  expect([late, done]).toEqual([12 - (done ?? 0), expect.toSatisfy((count: number) => count >= 3)])
})

/** Workers that wait for jobs; resolves to their statuses once there are some. */
function waitForJobs(
  { url }: TestApp,
  count: number,
  body: () => NonNullable<RequestInit['body']>,
): number[] {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const statuses: number[] = []
  for (let each = 0; each < count; each += 1) {
    const headers = { 'X-Project-ID': 'test', 'Content-Type': 'application/json' }
    const asked = { method: 'POST', headers, body: body(), signal: leaving.signal, duplex: 'half' } as const
    fetch(`${url}/v1/queues/w/claims?wait=30s`, asked).then(
      ({ status }) => statuses.push(status),
      () => undefined,
    )
  }
  return statuses
}

test.each([
  ['arrived in chunks', () => new Blob(['{"limit":1}']).stream()],
  ['brought results', () => JSON.stringify({ acks: [{ id: '1', token: 1, result: 'x'.repeat(4_000_000) }] })],
])('a waiting request keeps nothing of a body that %s', async (_, body) => {
  await using app = await startApp(inject('redisPort'))
  const statuses = waitForJobs(app, 20, body)
  const idle = async (): Promise<number> => (await app.call('GET', '/v1/queues/w')).json?.idle ?? 0
  while ((await idle()) < 20 && statuses.length === 0) await soon(50)
  const large = { name: 'job', payload: 'x'.repeat(1_000_000) }
  const { status } = await app.call('POST', '/v1/queues/other/jobs', { body: large })

  expect([status, statuses]).toEqual([201, []])
})
