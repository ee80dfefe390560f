import { DriverError, PeriluneError } from './errors.ts'

/** The promise's value; DriverError `unreachable` when it takes longer, or fails with no error of ours. */
export function inTime<Value>(promise: Promise<Value>, ms: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (cause?: unknown): void =>
      reject(new DriverError('unreachable', 'no server answered before the deadline', { cause }))
    const timer = setTimeout(late, ms)
    const failed = (error: unknown): void => (error instanceof PeriluneError ? reject(error) : late(error))
    promise.then(resolve, failed).finally(() => clearTimeout(timer))
  })
}

/** As the promise; rejects after `ms`, or with the signal's reason. */
export function within<Value>(promise: Promise<Value>, ms: number, signal?: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('too late')), ms)
    const abort = (): void => reject(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
  })
}

/** As the promise; rejects with the signal's reason when that comes first. */
export function unlessAborted<Value>(promise: Promise<Value>, signal?: AbortSignal): Promise<Value> {
  if (signal === undefined) return promise
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Rejects with the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return within(new Promise<void>((resolve) => setTimeout(resolve, ms)), ms + 1000, signal)
}
