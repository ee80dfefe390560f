// Chores: work that scripts cannot do themselves, because they cannot reach another slot, and know no time zones. The
// answer of a call reports pending chores, and the process that gets it does them. A chore may be done twice, or by
// several at once.

import { CHORES } from '../../generated/bits.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { ExponentialBackoff } from '../../runtime/time/backoff.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'

/** Retried until it is done, because no other process may call for a long time. */
const INSISTS: Chore = 'deliver'
const NOTHING_TO_DO: Promise<void> = Promise.resolve()

export type Chore = keyof typeof CHORES
type Tasks = { readonly [Name in Chore]: () => Promise<void> }

/** The active errands of each instance. Its many handles of one queue share one errand for each chore. */
const errands = new WeakMap<Runtime, Map<string, Errand>>()

export class Chores {
  readonly #runtime: Runtime
  readonly #queue: string
  readonly #tasks: Tasks

  /** `queue` identifies the queue within the instance. */
  constructor(runtime: Runtime, queue: string, tasks: Tasks) {
    this.#runtime = runtime
    this.#queue = queue
    this.#tasks = tasks
  }

  /** Resolves when all chores are done or have failed. The next claim reports failed ones again. */
  see(bits: number): Promise<void> {
    return bits === 0 ? NOTHING_TO_DO : this.#see(bits)
  }

  async #see(bits: number): Promise<void> {
    const chores = (Object.entries(CHORES) as [Chore, number][]).filter(([, bit]) => (bits & bit) !== 0)
    await Promise.all(chores.map(([name]) => this.#errand(name).request()))
  }

  #errand(name: Chore): Errand {
    const those = errands.get(this.#runtime) ?? new Map<string, Errand>()
    errands.set(this.#runtime, those)
    const key = `${name} ${this.#queue}`
    const known = those.get(key)
    if (known !== undefined) return known
    const terms = { insists: name === INSISTS, task: this.#tasks[name], onIdle: () => void those.delete(key) }
    const errand = new Errand(this.#runtime, terms)
    those.set(key, errand)
    return errand
  }
}

// One chore of a queue in an instance, shared by all handles of the queue.
//
//   IDLE ──requested──► TRYING ──done, and not requested since──► IDLE
//                        ▲ └──failed──► PAUSING: longer each time, up to ten seconds
//                        └───requested since, or it insists, or hurried───┘ └──else──► IDLE
//
// An errand that insists is retried until it succeeds, and once more while its instance closes.

const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000

export interface ErrandTerms {
  readonly insists: boolean
  task(): Promise<void>
  /** The errand is idle, and can be forgotten. */
  onIdle(): void
}

export class Errand {
  readonly #terms: ErrandTerms
  readonly #runtime: Runtime
  readonly #backoff = new ExponentialBackoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  readonly #forget: () => void
  #trying: Promise<void> | null = null
  /** The try after the one that is under way. */
  #next: Promise<void> | null = null
  #pause: Timer | null = null
  /** Requested during the pause. */
  #isRequested = false
  /** Hurried during the try: no pause if it fails. */
  #isHurried = false

  constructor(runtime: Runtime, terms: ErrandTerms) {
    this.#runtime = runtime
    this.#terms = terms
    this.#forget = terms.insists ? runtime.atClose(() => this.hurry()) : () => undefined
  }

  /**
   * Requests a try. Resolves when one that begins from now on has succeeded or failed; at once in a pause. Never
   * rejects.
   */
  request(): Promise<void> {
    if (this.#pause !== null) {
      this.#isRequested = true
      return Promise.resolve()
    }
    this.#next ??= (this.#trying ?? Promise.resolve()).then(() => this.#begin())
    return this.#next
  }

  /** As `request`, but ends a pause. */
  hurry(): Promise<void> {
    this.#isHurried = true
    this.#pause?.cancel()
    this.#pause = null
    return this.request()
  }

  /** As `request`, but shortens a long pause to that of a first failure. */
  soon(): Promise<void> {
    const isLong = this.#backoff.failures > 1
    if (isLong) this.#backoff.reset()
    if (isLong && this.#pause !== null) {
      this.#pause.cancel()
      this.#beginPause()
    }
    return this.request()
  }

  #begin(): Promise<void> {
    this.#next = null
    if (this.#pause !== null) return this.request()
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
    const continues = this.#isRequested || this.#terms.insists
    this.#pause = null
    this.#isRequested = false
    if (continues) void this.request()
    this.#endIfIdle()
  }

  #endIfIdle(): void {
    if (this.#trying !== null || this.#next !== null || this.#pause !== null) return
    this.#forget()
    this.#terms.onIdle()
  }
}
