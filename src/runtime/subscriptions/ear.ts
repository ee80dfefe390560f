// Whether what those who wait would be told reaches this process, and so how long they may sleep before they look by themselves.
//
//   HEARD ──its line breaks──► LOST ──────about a second──────► GONE: nobody knows when it comes back, or whether it may
//     ▲                          └─────────┐                      │
//     └─────────────heard again────────────┴──────────────────────┘

import { startTimer, type Timer } from '../time/timer.ts'

// A connection that broke is there again sooner than this, unless it may not come back.
const GONE_AFTER_MS = 900
const LOST_RECHECK_MS = 1000

export interface Ear {
  /** False while the subscription is interrupted. */
  readonly isHeard: boolean
  /** True when it has been for so long that the process is one that cannot listen. */
  readonly isGone: boolean
}

/** Of one subscription. */
export class Hearing implements Ear {
  readonly #onGone: (() => void) | null
  #timer: Timer | null = null
  #lostAt = Infinity

  /** `onGone`: for those who sleep meanwhile, and know of no loss. */
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

/** Of several subscriptions: what one of them tells may be missed. */
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
  /** With a live subscription looking again is a safety net. */
  readonly heardMs: number
  /** Without one (it may be forbidden, or forbidden meanwhile) it is the way of waiting. */
  readonly unheardMs: number
}

/** How long to sleep at most. `ear` null: the process cannot listen. */
export function longestSleepMs(ear: Ear | null, { heardMs, unheardMs }: Rechecks): number {
  if (ear === null || ear.isGone) return unheardMs
  return ear.isHeard ? heardMs : Math.min(heardMs, LOST_RECHECK_MS)
}
