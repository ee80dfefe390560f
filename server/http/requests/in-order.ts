// Requests that a client sends on one connection without waiting for answers are carried out one after the other, each once the
// answer before it has been taken: else a client that never reads could have any number of answers made for it. A request whose
// client has left by then is not begun. While many wait no more are read.

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const MOST_WAITING = 16

interface Line {
  last: ServerResponse
  waiting: number
}

export function carryOutInOrder(app: Pick<FastifyInstance, 'addHook'>): void {
  const lines = new WeakMap<Socket, Line>()
  app.addHook('onRequest', ({ socket }, reply, begin) => {
    const line = lines.get(socket)
    if (line === undefined) lines.set(socket, { last: reply.raw, waiting: 0 })
    else if (line.last.closed) line.last = reply.raw
    else return waitInLine(line, socket, reply.raw, begin)
    begin()
  })
}

function waitInLine(line: Line, socket: Socket, response: ServerResponse, begin: () => void): void {
  line.last.once('close', () => {
    line.waiting -= 1
    if (line.waiting === 0) socket.resume()
    if (!socket.destroyed) begin()
  })
  line.last = response
  line.waiting += 1
  if (line.waiting > MOST_WAITING) socket.pause()
}
