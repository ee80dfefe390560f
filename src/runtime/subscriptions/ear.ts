// Whether letters to waiters reach this process, and so how long a waiter may sleep before it polls.
//
//   HEARD ──its line breaks──► LOST ──────about a second──────► GONE: it is unknown when, or whether, it is restored
//     ▲                          └─────────┐                      │
//     └────────────restored────────────────┴──────────────────────┘

import { startTimer, type Timer } from '../time/timer.ts'

// A broken connection is normally restored sooner than this.
const GONE_AFTER_MS = 900
const LOST_RECHECK_MS = 1000

export interface Ear {
  /** False while the subscription is interrupted. */
  readonly isHeard: boolean
  /** True when it was interrupted for so long that the process must poll. */
  readonly isGone: boolean
}

/** The state of one subscription. */
export class Hearing implements Ear {
  readonly #onGone: (() => void) | null
  #timer: Timer | null = null
  #lostAt = Infinity

  /** `onGone`: called for sleepers, which do not notice the loss. */
  constructor(onGone: (() => void) | null = null) {
    this.#onGone = onGone
  }

  get isHeard(): boolean {
    return this.#lostAt === Infinity
  }

  get isGone(): boolean {
    return performance.now() - this.#lostAt >= GONE_AFTER_MS
  }

  lose(): void {
    this.#lostAt = Math.min(this.#lostAt, performance.now())
    if (this.#onGone !== null) this.#timer ??= startTimer(this.#onGone, GONE_AFTER_MS).unref()
  }

  hear(): void {
    this.#lostAt = Infinity
    this.close()
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = null
  }
}

/** Several subscriptions: HEARD only while all of them are. */
export class Ears implements Ear {
  readonly #ears: readonly Ear[]

  constructor(ears: readonly Ear[]) {
    this.#ears = ears
  }

  get isHeard(): boolean {
    return this.#ears.every(({ isHeard }) => isHeard)
  }

  get isGone(): boolean {
    return this.#ears.some(({ isGone }) => isGone)
  }
}

export interface Rechecks {
  /** With a live subscription, polling is only a safety net. */
  readonly heardMs: number
  /** Without one (it may be forbidden), the waiter depends on polling. */
  readonly unheardMs: number
}

/** The longest sleep before the next poll. `ear` null: the process cannot listen. */
export function longestSleepMs(ear: Ear | null, { heardMs, unheardMs }: Rechecks): number {
  if (ear === null || ear.isGone) return unheardMs
  return ear.isHeard ? heardMs : Math.min(heardMs, LOST_RECHECK_MS)
}
