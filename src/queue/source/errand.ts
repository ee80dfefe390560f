// One chore of a queue, as an instance sees to it, whichever of its handles is told.
//
//   IDLE ──told──► TRYING ──done, and nobody has told since──► IDLE
//                   ▲ └──it failed──► PAUSING: longer each time, up to ten seconds
//                   └───told since, or it insists, or hurried───┘ └──else──► IDLE
//
// One that insists goes on by itself until it has not failed, and is tried once more while its instance closes.

import { Backoff } from '../../runtime/time/backoff.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000

export interface ErrandTerms {
  readonly insists: boolean
  task(): Promise<void>
  /** Nothing is left to remember of it. */
  onIdle(): void
}

export class Errand {
  readonly #terms: ErrandTerms
  readonly #runtime: Runtime
  readonly #backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  readonly #forget: () => void
  #trying: Promise<void> | null = null
  /** The try behind the one that is under way. */
  #next: Promise<void> | null = null
  #pause: Timer | null = null
  /** During the pause. */
  #isTold = false
  /** During the try: should it fail, no pause is made. */
  #isHurried = false

  constructor(runtime: Runtime, terms: ErrandTerms) {
    this.#runtime = runtime
    this.#terms = terms
    this.#forget = terms.insists ? runtime.atClose(() => this.hurry()) : () => undefined
  }

  /** Resolves when a try that begins from now on has ended, well or not; in a pause at once. Rejects never. */
  tell(): Promise<void> {
    if (this.#pause !== null) {
      this.#isTold = true
      return Promise.resolve()
    }
    this.#next ??= (this.#trying ?? Promise.resolve()).then(() => this.#begin())
    return this.#next
  }

  /** As `tell`, without a pause before. */
  hurry(): Promise<void> {
    this.#isHurried = true
    this.#pause?.cancel()
    this.#pause = null
    return this.tell()
  }

  /** As `tell`; of a long pause no more is waited for than of a first one. */
  soon(): Promise<void> {
    const isLong = this.#backoff.failures > 1
    if (isLong) this.#backoff.reset()
    if (isLong && this.#pause !== null) {
      this.#pause.cancel()
      this.#beginPause()
    }
    return this.tell()
  }

  #begin(): Promise<void> {
    this.#next = null
    if (this.#pause !== null) return this.tell()
    this.#trying = this.#try()
    return this.#trying
  }

  async #try(): Promise<void> {
    this.#isHurried = false
    try {
      await this.#terms.task()
      this.#backoff.reset()
    } catch {
      if (!this.#runtime.runner.closed && !this.#isHurried) this.#beginPause()
    }
    this.#trying = null
    this.#endIfIdle()
  }

  #beginPause(): void {
    this.#pause = startTimer(() => this.#resume(), this.#backoff.next()).unref()
  }

  #resume(): void {
    const goesOn = this.#isTold || this.#terms.insists
    this.#pause = null
    this.#isTold = false
    if (goesOn) void this.tell()
    this.#endIfIdle()
  }

  #endIfIdle(): void {
    if (this.#trying !== null || this.#next !== null || this.#pause !== null) return
    this.#forget()
    this.#terms.onIdle()
  }
}
