import { createServer } from 'node:net'

// Below the range from which systems take the ports of outgoing connections. So a client that reconnects to a stopped
// server can never occupy the server's port, or connect to itself.
const FIRST = 20_000
const COUNT = 12_000

/** A loopback port that nothing listens on. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
