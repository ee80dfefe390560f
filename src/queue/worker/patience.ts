// How long a worker that closes waits. Of several who close it, the one that waits least counts.
//
//   UNLIMITED ──atMost──► WAITING ──the time is over──► LAST TRY ──a second more──► OVER
//       └───────────────────┴──────── end ───────────────┴──► ENDED: no timer is left

import { startTimer, type Timer } from '../../runtime/time/timer.ts'

/** So long a server that is there needs at most for what is sent to it last. */
const LAST_TRY_MS = 1000

export class Patience {
  readonly #onLastTry: () => void
  /** By `performance.now()`. */
  #until = Infinity
  #timer: Timer | null = null
  #resolve: () => void = () => undefined
  /** Resolves when nothing is waited for any more. */
  readonly over: Promise<void> = new Promise((resolve) => (this.#resolve = resolve))

  /** `onLastTry`: the time is over. */
  constructor(onLastTry: () => void) {
    this.#onLastTry = onLastTry
  }

  /** The time is over after `ms`, unless it is before. */
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
