/** As the promise; null when it takes longer than until `by`. Rejects with the signal's reason. */
export function settledBy<Value>(
  promise: Promise<Value>,
  by: number,
  signal?: AbortSignal,
): Promise<Value | null> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(null), Math.max(0, Math.ceil(by - performance.now())))
    const abort = (): void => reject(signal?.reason)
    if (signal?.aborted) abort()
    signal?.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    })
  })
}
