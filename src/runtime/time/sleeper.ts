import { onAbort } from './aborts.ts'
import { startTimer } from './timer.ts'

/** Sleeps until somebody wakes it; one sleep at a time. */
export class Sleeper {
  #up: (() => void) | null = null

  /** Resolves when woken, after `ms`, or when the signal aborts or has aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const up = (): void => {
        timer.cancel()
        forget()
        this.#up = null
        resolve()
      }
      const timer = startTimer(up, ms)
      this.#up = up
      const forget = onAbort(signal, up)
    })
  }

  wake(): void {
    this.#up?.()
  }
}
