// What a server says to a new connection: before it is asked anything, that it takes no more, which a client that sends
// its first command at once may never read; and to a PING, that it is loading its data, during which a client is not
// ready and keeps its commands.

import { connect } from 'node:net'
import type { RedisOptions } from 'ioredis'

const SILENCE_MS = 100

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
    const asking = setTimeout(() => socket.write('PING\r\n'), SILENCE_MS)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearTimeout(asking)
      resolve('')
    })
  })
}
