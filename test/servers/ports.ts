import { freePort as anyFreePort } from '../../server/engine/free-port.ts'

const given = new Set<number>()

/**
 * A loopback port that nothing listens on, and that this process was not given before: what starts at the same time
 * never meets on it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await anyFreePort()
    if (given.has(port)) continue
    given.add(port)
    return port
  }
}
