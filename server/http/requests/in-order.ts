// Pipelined requests on one connection are processed one after the other, each once the answer before it has been
// taken: otherwise a client that never reads could have any number of answers made for it. A request whose client has
// left by then is not begun. Nor is one after the last answer of its connection, because its answer could not be sent.
// While many wait, no more are read.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const MOST_WAITING = 16

interface Line {
  last: ServerResponse
  waiting: number
}

export function carryOutInOrder(app: Pick<FastifyInstance, 'addHook'>): void {
  const lines = new WeakMap<Socket, Line>()
  app.addHook('onRequest', ({ raw, socket }, reply, begin) => {
    if (asksToClose(raw)) reply.header('Connection', 'close')
    const line = lines.get(socket)
    if (line === undefined) lines.set(socket, { last: reply.raw, waiting: 0 })
    else if (!line.last.closed) return waitInLine(line, socket, reply.raw, begin)
    else if (socket.writable) line.last = reply.raw
    else return
    begin()
  })
}

/** Node does not recognise it before a tab. */
function asksToClose({ headers }: IncomingMessage): boolean {
  const options = headers.connection?.split(',') ?? []
  return options.some((option) => option.trim().toLowerCase() === 'close')
}

function waitInLine(line: Line, socket: Socket, response: ServerResponse, begin: () => void): void {
  line.last.once('close', () => {
    line.waiting -= 1
    if (line.waiting === 0) socket.resume()
    // An answer that ends the connection has ended the socket by now, but does not destroy it before its bytes have
    // left.
    if (socket.writable) begin()
  })
  line.last = response
  line.waiting += 1
  if (line.waiting > MOST_WAITING) socket.pause()
}
