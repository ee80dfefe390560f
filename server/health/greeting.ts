// What a server says to a new connection before it is asked anything: Redis says only that it takes no more. A client
// that sends its first command at once may find the connection closed, and never reads that.

import { connect } from 'node:net'
import type { RedisOptions } from 'ioredis'

/** Empty if it says nothing, if it cannot be reached, or over TLS. Ends with the signal. */
export function greetingOf({ host, port, path, tls }: RedisOptions, signal: AbortSignal): Promise<string> {
  if (tls !== undefined) return Promise.resolve('')
  return new Promise((resolve) => {
    const where = path == null ? { host: host ?? 'localhost', port: port ?? 6379 } : { path }
    const socket = connect({ ...where, signal })
    socket.setEncoding('latin1')
    socket.once('data', (said: string) => {
      socket.destroy()
      resolve(said)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(''))
  })
}
