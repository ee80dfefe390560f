import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/**
 * Closes connections that have sent no request when the service closes. Browsers open some in advance; Node treats them
 * as busy, and closing would wait for them.
 */
export function closeUnusedConnections(app: Pick<FastifyInstance, 'addHook'>, server: Server): void {
  const unused = new Set<Socket>()
  server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  server.on('request', ({ socket }) => unused.delete(socket))
  app.addHook('preClose', async () => {
    for (const socket of unused) socket.destroy()
  })
}
