// What scripts cannot do by themselves: another slot is out of their reach, and they know no time zones. A claim tells
// the process that it has to be seen to; whoever is told does it. Each chore may be done twice, and by several at once.

import { CHORES } from '../../generated/bits.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import { ExponentialBackoff } from '../../runtime/time/backoff.ts'
import { startTimer, type Timer } from '../../runtime/time/timer.ts'

/** What nobody else may come for: it is tried again until it has been done. */
const INSISTS: Chore = 'deliver'
const NOTHING_TO_DO: Promise<void> = Promise.resolve()

export type Chore = keyof typeof CHORES
type Tasks = { readonly [Name in Chore]: () => Promise<void> }

/** Of each instance those that are not idle: an instance has many handles of one queue, and one of each of its chores. */
const errands = new WeakMap<Runtime, Map<string, Errand>>()

export class Chores {
  readonly #runtime: Runtime
  readonly #queue: string
  readonly #tasks: Tasks

  /** `queue` names it among all that the instance knows. */
  constructor(runtime: Runtime, queue: string, tasks: Tasks) {
    this.#runtime = runtime
    this.#queue = queue
    this.#tasks = tasks
  }

  /** Resolves when all is done, or has failed: then it is told again by the next claim. */
  see(bits: number): Promise<void> {
    return bits === 0 ? NOTHING_TO_DO : this.#see(bits)
  }

  async #see(bits: number): Promise<void> {
    const chores = (Object.entries(CHORES) as [Chore, number][]).filter(([, bit]) => (bits & bit) !== 0)
    await Promise.all(chores.map(([name]) => this.#errand(name).tell()))
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

// One chore of a queue, as an instance sees to it, whichever of its handles is told.
//
//   IDLE ──told──► TRYING ──done, and nobody has told since──► IDLE
//                   ▲ └──it failed──► PAUSING: longer each time, up to ten seconds
//                   └───told since, or it insists, or hurried───┘ └──else──► IDLE
//
// One that insists goes on by itself until it has not failed, and is tried once more while its instance closes.

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
  readonly #backoff = new ExponentialBackoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
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
