import { DriverError } from './errors.ts'

/** The promise's value, or DriverError `unreachable` when it fails or takes longer. */
export function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (cause?: unknown): void =>
      reject(new DriverError('unreachable', 'no server answered before the deadline', { cause }))
    const timer = setTimeout(late, ms)
    promise.then(resolve, late).finally(() => clearTimeout(timer))
  })
}
