import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { Unsent } from './unsent.ts'

/** An answer of `bytes`, of which a part has not been taken. */
class Response extends EventEmitter {
  headersSent = true
  destroyed = false
  closed = false
  writableLength: number

  constructor(bytes: number) {
    super()
    this.writableLength = bytes
  }

  destroy(): void {
    this.destroyed = true
    this.closed = true
    this.emit('close')
  }
}

const add = (
  unsent: Unsent,
  share: string,
  bytes: number,
  response: Response = new Response(bytes),
): Response => {
  unsent.add(share, response as unknown as ServerResponse, bytes)
  return response
}

const soon = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test('a share may have as much unsent as is left for others', () => {
  const unsent = new Unsent({ mostBytes: 60 })

  add(unsent, 'a', 29)
  expect(unsent.hasRoom('a')).toBe(true)
  add(unsent, 'a', 1)
  expect(unsent.hasRoom('a')).toBe(false)
  add(unsent, 'b', 10)
  expect(unsent.hasRoom('b')).toBe(true)
  add(unsent, 'b', 5)
  expect([unsent.hasRoom('a'), unsent.hasRoom('b'), unsent.hasRoom('c')]).toEqual([false, false, true])
})

test('bytes that are taken, and answers whose client has left, make room, and listeners are notified', async () => {
  const unsent = new Unsent({ mostBytes: 60 })
  let calls = 0
  unsent.onRoom(() => (calls += 1))
  const [first, second] = [add(unsent, 'a', 30), add(unsent, 'a', 20)]
  expect(unsent.hasRoom('a')).toBe(false)

  first.writableLength = 5
  expect(unsent.bytes).toBe(25)
  expect(unsent.hasRoom('a')).toBe(true)
  second.emit('close')
  expect(unsent.bytes).toBe(5)
  expect(calls).toBe(1)
})

test('a stream is measured by the bytes in its connection', () => {
  const unsent = new Unsent({ mostBytes: 60 })
  const stream = add(unsent, 'a', 0)

  stream.writableLength = 40
  expect(unsent.bytes).toBe(40)
  stream.emit('close')
  expect(unsent.bytes).toBe(0)
})

test('the missing parts of an answer in pieces are included, and their arrival is progress', async () => {
  const unsent = new Unsent({ mostBytes: 60, patienceMs: 60 })
  const response = new Response(2)
  let left = 38
  unsent.add('a', response as unknown as ServerResponse, 40, () => left)
  expect(unsent.bytes).toBe(40)

  for (let at = 0; at < 10; at += 1) {
    left -= 1
    await soon(50)
  }
  expect([unsent.bytes, response.destroyed]).toEqual([30, false])
  while (!response.destroyed) await soon(20)
})

test('an answer that is made after its client has left is not included', () => {
  const unsent = new Unsent({ mostBytes: 60 })
  const left = new Response(40)
  left.destroy()

  add(unsent, 'a', 40, left)
  expect(unsent.bytes).toBe(0)
  expect(left.listenerCount('close')).toBe(0)
})

test('an answer without progress is given up only if its share needs the room', async () => {
  const unsent = new Unsent({ mostBytes: 60, patienceMs: 20 })
  const [stalled, other] = [add(unsent, 'a', 30), add(unsent, 'b', 5)]
  const read = add(unsent, 'a', 10)

  while (!stalled.destroyed) {
    read.writableLength = Math.max(1, read.writableLength - 1)
    await soon(10)
  }
  expect([read.destroyed, other.destroyed]).toEqual([false, false])
  expect(unsent.hasRoom('a')).toBe(true)
})
