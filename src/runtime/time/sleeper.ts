import { setAlarm } from './alarm.ts'

/** Sleeps until it is woken; one sleep at a time. */
export class Sleeper {
  #up: (() => void) | null = null

  /** Resolves when woken, after `ms`, or when the signal aborts or has aborted. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const up = (): void => {
        this.#up = null
        resolve()
      }
      const stop = setAlarm(ms, signal, { late: up, aborted: up })
      if (signal?.aborted) return
      this.#up = () => {
        stop()
        up()
      }
    })
  }

  wake(): void {
    this.#up?.()
  }
}
