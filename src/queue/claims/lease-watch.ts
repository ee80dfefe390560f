// Detects the end of a lease that only its holder extends, by hand.
//
//   STOPPED ──look──► WATCHING ──look: it may end at another time──► WATCHING
//      ▲                 ├──the time is over, or this instance has cleared the queue──► the lease is over: `onEnd`
//      │                 ├──the instance closes──► it cannot be settled any more: `onClosed`
//      └───── stop ──────┘

import type { Countdown } from '../../runtime/leases/countdown.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'
import type { Unit } from '../../runtime/connection/unit.ts'

export interface WatchTerms {
  /** What the lease is of. */
  readonly unit: Unit
  onEnd(): void
  onClosed(): void
}

export class LeaseWatch {
  readonly #countdown: Countdown
  readonly #terms: WatchTerms
  #timer: Timer | null = null
  #forget: (() => void) | null = null

  constructor(countdown: Countdown, terms: WatchTerms) {
    this.#countdown = countdown
    this.#terms = terms
  }

  /** Looks now, and when the lease ends as it is known now. Keeps no process alive. */
  look(): void {
    this.#timer?.cancel()
    this.#timer = null
    const { leftMs } = this.#countdown
    if (leftMs <= 0) return this.#end()
    if (this.#terms.unit.runtime.runner.closed) return this.#close()
    this.#timer = startTimer(() => this.look(), Math.ceil(leftMs)).unref()
    this.#forget ??= this.#listen()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#forget?.()
    this.#forget = null
  }

  #listen(): () => void {
    const { runtime, beginning } = this.#terms.unit
    const forgets = [
      runtime.clearings.watch(beginning, () => this.look()),
      runtime.atClose(() => this.#close()),
    ]
    return () => forgets.forEach((forget) => forget())
  }

  #end(): void {
    this.stop()
    this.#terms.onEnd()
  }

  #close(): void {
    this.stop()
    this.#terms.onClosed()
  }
}
