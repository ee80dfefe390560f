/** Sleeps until somebody wakes it; one sleep at a time. */
export class Sleeper {
  #up: (() => void) | null = null

  /** Resolves when woken, after `ms`, or when the signal aborts. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const up = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', up)
        this.#up = null
        resolve()
      }
      const timer = setTimeout(up, ms)
      this.#up = up
      signal?.addEventListener('abort', up)
    })
  }

  wake(): void {
    this.#up?.()
  }
}
