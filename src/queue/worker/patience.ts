// Limits how long a closing worker waits. The shortest limit of several close calls applies.
//
//   UNLIMITED ──atMost──► WAITING ──the time is over──► LAST TRY ──a second more──► OVER
//       └───────────────────┴──────── end ───────────────┴──► ENDED: no timer is left

import { startTimer, type Timer } from '../../runtime/time/timer.ts'

/** A server that is reachable answers the last calls within this time. */
const LAST_TRY_MS = 1000

export class Patience {
  readonly #onLastTry: () => void
  /** By `performance.now()`. */
  #until = Infinity
  #timer: Timer | null = null
  #resolve: () => void = () => undefined
  /** Resolves when the worker must stop waiting. */
  readonly over: Promise<void> = new Promise((resolve) => (this.#resolve = resolve))

  /** `onLastTry`: the time is over. */
  constructor(onLastTry: () => void) {
    this.#onLastTry = onLastTry
  }

  /** Limits the time to `ms` from now, unless it is shorter already. */
  atMost(ms: number): void {
    const until = performance.now() + ms
    if (until >= this.#until) return
    this.#until = until
    this.#timer?.cancel()
    this.#timer = startTimer(() => this.#lastTry(), ms)
  }

  end(): void {
    this.#until = -Infinity
    this.#timer?.cancel()
  }

  #lastTry(): void {
    this.#until = -Infinity
    this.#timer = startTimer(this.#resolve, LAST_TRY_MS)
    this.#onLastTry()
  }
}
