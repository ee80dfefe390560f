import { ConnectionLostError } from '../../driver.ts'

/** The time limit for requests that a healthy connection answers at once. */
export const LIMIT_MS = 2000

/** Rejects with ConnectionLostError when `promise` has not settled after LIMIT_MS. Keeps no process alive. */
export function inTime<T>(promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new ConnectionLostError(`${what}: no answer for ${LIMIT_MS} ms`, true))
    // After a stall, timers fire before the answers that arrived in the meantime have been read.
    const timer = setTimeout(() => setImmediate(late), LIMIT_MS)
    timer.unref()
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
