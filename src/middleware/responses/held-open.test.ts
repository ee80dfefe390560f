import { expect, test } from 'vitest'
import { type HeldConnection, holdOpen } from './held-open.ts'

class Socket implements HeldConnection {
  readonly destroyed: unknown[] = []
  destroy(error?: Error): this {
    this.destroyed.push(error ?? null)
    return this
  }
}

test('releasing a connection destroys it when that was requested in the meantime', () => {
  const [socket, error] = [new Socket(), new Error('failed after the answer')]
  const letGo = holdOpen(socket)

  expect(socket.destroy(error)).toBe(socket)
  expect(socket.destroyed).toEqual([])

  letGo()?.()
  expect(socket.destroyed).toEqual([error])
})

test('a connection stays open and unchanged when no destroy was requested', () => {
  const socket = new Socket()

  expect(holdOpen(socket)()).toBe(null)

  expect(Object.keys(socket)).toEqual(['destroyed'])
  socket.destroy()
  expect(socket.destroyed).toEqual([null])
})

test('of two holders of a connection the last to release it destroys it', () => {
  const socket = new Socket()
  const [first, second] = [holdOpen(socket), holdOpen(socket)]
  socket.destroy()

  expect(second()).toBe(null)
  expect(socket.destroyed).toEqual([])
  first()?.()

  expect(socket.destroyed).toEqual([null])
  expect(Object.hasOwn(socket, 'destroy')).toBe(false)
})

test('a custom `destroy` method is restored', () => {
  const socket = new Socket()
  const own = (): Socket => socket
  socket.destroy = own

  holdOpen(socket)()

  expect(socket.destroy).toBe(own)
})
