/** Nothing came in time. */
export class SilentError extends Error {
  override readonly name = 'SilentError'
}

/** Settles as `work` does, or rejects with SilentError after `ms`. */
export async function inTime<Value>(work: Promise<Value>, ms: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new SilentError(`no answer within ${ms / 1000} s`)), ms)
  })
  work.catch(() => {}) // it may fail after it was too late
  try {
    return await Promise.race([work, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
