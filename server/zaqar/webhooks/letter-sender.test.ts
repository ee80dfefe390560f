// A letter counts in the budget as long as it is in memory: until its connection is closed.

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { readRanges } from '../addresses/guard.ts'
import { placeOf } from '../queues/place.ts'
import { LetterForm } from '../subscriptions/letter.ts'
import { nothingPushed } from '../subscriptions/subscription.ts'
import { Budget } from './budget.ts'
import { type Addressee, type LetterResult, LetterSender } from './letter-sender.ts'

const MEBIBYTE = 1024 * 1024
// More than the buffers of two sockets hold.
const LETTER = JSON.stringify('x'.repeat(16 * MEBIBYTE))
const never = new AbortController().signal

/** Answers as soon as a connection is open, and reads nothing until the test reads. */
async function unreading(answer: string): Promise<{ port: number; met: Promise<Socket> }> {
  const server = createServer({ pauseOnConnect: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const met = once(server, 'connection').then(([socket]: Socket[]) => {
    if (socket === undefined) throw new Error('no socket')
    socket.on('error', () => undefined)
    socket.write(answer)
    return socket
  })
  onTestFinished(async () => {
    ;(await met).destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, met }
}

async function send(
  port: number,
  letters: Budget,
  { message = LETTER, timeoutMs = 600_000 } = {},
): Promise<LetterResult> {
  const subscription = {
    subscriber: `http://127.0.0.1:${port}/`,
    ttl: 600,
    confirmed: true,
    project: '',
    key: 'k',
    startedAtMs: 0,
    hasOptions: false,
    progress: nothingPushed,
  }
  const sender = new LetterSender({
    timeoutMs,
    allowed: readRanges('127.0.0.0/8') ?? [],
    maxBytes: 32 * MEBIBYTE,
    onError: () => undefined,
  })
  const form = new LetterForm({})
  const place = placeOf('p:test/q')
  const to: Addressee = {
    place,
    id: 's',
    subscription,
    isSlow: true,
    form,
    delays: [],
    signal: never,
    letters,
  }
  return sender.send(to, message)
}

/** Whether the budget has room for one more byte. */
async function isFree(letters: Budget): Promise<boolean> {
  const ending = new AbortController()
  const taken = letters.take('p:test', 1, ending.signal).then(
    (share) => (share.release(), true),
    () => false,
  )
  await turn()
  ending.abort()
  return taken
}

const UNREAD = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const UNENDED = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsome'

test.each([
  ['whose receiver answers without reading it', UNREAD, LETTER],
  ['whose answer has no end yet', UNENDED, '"small"'],
])('a letter %s counts until its connection is closed', async (_, answer, message) => {
  const { port, met } = await unreading(answer)
  const letters = new Budget(message.length)

  const { result } = await send(port, letters, { message })

  expect([result, await isFree(letters)]).toEqual(['delivered', false])
  ;(await met).destroy()
  await expect.poll(() => isFree(letters)).toBe(true)
})

test('a receiver that answers and reads nothing loses its connection with the time it has', async () => {
  const { port } = await unreading(UNREAD)
  const letters = new Budget(LETTER.length)

  const { result } = await send(port, letters, { timeoutMs: 300 })

  expect(result).toBe('delivered')
  await expect.poll(() => isFree(letters)).toBe(true)
})

test('a letter that was read and answered, or could not be sent, counts no more', async () => {
  const { port, met } = await unreading('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
  const letters = new Budget(9)
  void met.then((socket) => socket.resume())
  await send(port, letters, { message: '"message"' })
  await expect.poll(() => isFree(letters)).toBe(true)

  const { result } = await send(1, letters, { message: '"message"' })

  expect(result).not.toBe('delivered')
  await expect.poll(() => isFree(letters)).toBe(true)
})
