import { ConnectionLostError } from '../../driver.ts'

/** What is answered at once when a connection is well is given up after this long. */
export const LIMIT_MS = 2000

/** Rejects with ConnectionLostError when `promise` has not settled after LIMIT_MS. Keeps no process alive. */
export function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new ConnectionLostError(`${what}: no answer for ${LIMIT_MS} ms`, true))
    // A process that was stalled finds its timers due before it has read the answers that came meanwhile.
    const timer = setTimeout(() => setImmediate(late), LIMIT_MS)
    timer.unref()
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
