// Answers to requests whose bodies were not received completely, such as those that are too large. Closing a connection
// while bytes are on their way resets it, and the client may lose the answer. So the rest is read, within bounds, and
// discarded.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { within } from '../../process/within.ts'

const MOST_BYTES = 64 * 1024 * 1024
/** For a service that closes: the connection ends with the answer, so the answer waits for the body. */
const CLOSING_PATIENCE_MS = 1000

export function passOverUnreadBodies(app: Pick<FastifyInstance, 'addHook'>, isClosing: () => boolean): void {
  app.addHook('onSend', async ({ raw }, reply) => {
    if (raw.complete || raw.destroyed) return
    if (isClosing()) return within(CLOSING_PATIENCE_MS, passedOver(raw))
    // Fastify would close; the connection continues after the body, or is closed by its bounds.
    reply.removeHeader('Connection')
    reply.raw.once('finish', () => void passedOver(raw))
  })
}

/**
 * Resolves when the body was received completely, or the connection has ended. The connection ends when too much
 * arrives; the server limits the time.
 */
function passedOver(raw: IncomingMessage): Promise<void> {
  let bytes = 0
  return new Promise((resolve) => {
    raw.once('end', resolve).once('close', resolve).once('error', resolve)
    raw.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > MOST_BYTES) raw.socket.destroy()
    })
    raw.resume()
  })
}
