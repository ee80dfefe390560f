// Notices the end of a lease that nothing keeps: its holder extends it by hand.
//
//   STOPPED ──look──► WATCHING ──look: it may end at another time──► WATCHING
//      ▲                 ├──the time is over──► the lease is over: `onEnd`
//      └───── stop ──────┘

import type { Countdown } from '../runtime/countdown.ts'
import { startTimer, type Timer } from '../runtime/timer.ts'

export class LeaseWatch {
  readonly #countdown: Countdown
  readonly #onEnd: () => void
  #timer: Timer | null = null

  constructor(countdown: Countdown, onEnd: () => void) {
    this.#countdown = countdown
    this.#onEnd = onEnd
  }

  /** Looks now, and when the lease ends as it is known now. Keeps no process alive. */
  look(): void {
    this.stop()
    const { leftMs } = this.#countdown
    if (leftMs <= 0) this.#onEnd()
    else this.#timer = startTimer(() => this.look(), Math.ceil(leftMs)).unref()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
  }
}
