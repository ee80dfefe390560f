import { setAlarm } from './alarm.ts'

/** Settles like the promise; null when it takes longer than until `by`. Rejects with the signal's reason. */
export function settledBy<Value>(
  promise: Promise<Value>,
  by: number,
  signal?: AbortSignal,
): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const ms = Math.max(0, Math.ceil(by - performance.now()))
    const stop = setAlarm(ms, signal, { late: () => resolve(null), aborted: reject })
    promise.then(resolve, reject).finally(stop)
  })
}
