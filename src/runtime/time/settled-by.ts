import { onAbort } from './aborts.ts'
import { startTimer } from './timer.ts'

/** As the promise; null when it takes longer than until `by`. Rejects with the signal's reason. */
export function settledBy<Value>(
  promise: Promise<Value>,
  by: number,
  signal?: AbortSignal,
): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const late = (): void => {
      forget()
      resolve(null)
    }
    const timer = startTimer(late, Math.max(0, Math.ceil(by - performance.now())))
    const forget = onAbort(signal, () => {
      timer.cancel()
      reject(signal?.reason)
    })
    promise.then(resolve, reject).finally(() => {
      timer.cancel()
      forget()
    })
  })
}
