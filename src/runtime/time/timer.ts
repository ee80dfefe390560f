// Timers without the limit of Node, where `setTimeout` fires after 1 ms for delays above 2^31 - 1 ms (24.8 days).

const LONGEST_MS = 2 ** 31 - 1

export interface Timer {
  /** The task will not run. */
  cancel(): void
  /** The timer keeps no process alive. */
  unref(): Timer
  /** The timer keeps the process alive; this is the default. */
  ref(): Timer
}

/** Runs `task` once after `ms`, of any length. */
export function startTimer(task: () => void, ms: number): Timer {
  return new ChainedTimer(task, ms)
}

class ChainedTimer implements Timer {
  readonly #task: () => void
  #leftMs: number
  #timer: NodeJS.Timeout

  constructor(task: () => void, ms: number) {
    this.#task = task
    this.#leftMs = ms
    this.#timer = this.#next()
  }

  cancel(): void {
    clearTimeout(this.#timer)
  }

  unref(): Timer {
    this.#timer.unref()
    return this
  }

  ref(): Timer {
    this.#timer.ref()
    return this
  }

  #next(): NodeJS.Timeout {
    const ms = Math.min(this.#leftMs, LONGEST_MS)
    this.#leftMs -= ms
    return setTimeout(() => this.#fire(), ms)
  }

  #fire(): void {
    if (this.#leftMs <= 0) return this.#task()
    const held = this.#timer.hasRef()
    this.#timer = this.#next()
    if (!held) this.#timer.unref()
  }
}
