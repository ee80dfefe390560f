// Attempts that ended without a lease, and those of work that ended in an outage. Their last word to the server takes them out of its line,
// gives back what they were granted meanwhile, or tells how the work ended. That word may be lost, undone by a failover, or overtaken by a late copy of a question, so:
//
//   ABANDONING ──the server has heard it, and nothing can come late──► KNOWN ──two minutes, or many others──► forgotten
//     ▲ ▲ │└───a copy may be on its way: said again after 1, 3, 10, 30 and 60 s
//     │ │ └────it failed──► UNSAID: one of them is tried each second; once that one is heard, all others are said
//     │ └───────────────────────┘
//     └── a letter comes for it: the server takes it for one who waits
//
// In an outage many attempts end so. When the server is back it may first read their questions, which waited in some buffer,
// and grant them what nobody will use. So their last words must follow soon, and are not tried each by itself. However many end
// after them: where there are too many, it is the newest that are not kept, for the oldest are those that may have reached the server.

import { DriverError } from './errors.ts'
import { isOutage } from './outage.ts'
import { startTimer, type Timer } from './timer.ts'

const AGAIN_AFTER_MS = [1000, 3000, 10_000, 30_000, 60_000]
const TRY_AFTER_MS = 1000
const KNOWN_FOR_MS = 120_000
const MOST_KNOWN = 10_000
const MOST_ABANDONING = 100_000
/** After an outage: others are to be served as well. */
const MOST_AT_ONCE = 1000

interface Ended {
  readonly id: string
  readonly say: () => Promise<unknown>
  /** After so long it is said again, once it was heard. */
  again: readonly number[]
  since: number
  timer: Timer | null
}

export class Abandoned {
  /** Those that are to be said yet, or again. The oldest first. */
  readonly #abandoning = new Map<string, Ended>()
  /** The oldest first. */
  readonly #known = new Map<string, Ended>()
  /** Those whose last word failed, and whether the store could not decide. */
  readonly #unsaid = new Map<Ended, boolean>()
  #trying: Timer | null = null
  #closed = false

  /** `say` abandons the attempt, and may be called often. `mayComeLate`: a copy of a question may still be on its way. */
  add(id: string, say: () => Promise<unknown>, mayComeLate: boolean): void {
    this.#forgetOld()
    const isKept = !this.#closed && this.#abandoning.size < MOST_ABANDONING
    const again = isKept && mayComeLate ? AGAIN_AFTER_MS : []
    const ended: Ended = { id, say, again, since: performance.now(), timer: null }
    if (isKept) this.#abandoning.set(id, ended)
    void this.#say(ended)
  }

  /** The server has told something to an attempt that is over. */
  heard(id: string): void {
    const ended = this.#abandoning.get(id) ?? this.#known.get(id)
    if (ended !== undefined) void this.#tell(ended)
  }

  close(): void {
    this.#closed = true
    this.#trying?.cancel()
    for (const { timer } of this.#abandoning.values()) timer?.cancel()
    this.#abandoning.clear()
    this.#known.clear()
    this.#unsaid.clear()
  }

  async #say(ended: Ended): Promise<void> {
    if (!(await this.#tell(ended)) || this.#closed) return
    const [ms, ...later] = ended.again
    ended.again = later
    if (ms !== undefined) ended.timer = startTimer(() => void this.#say(ended), ms).unref()
    else this.#know(ended)
  }

  /** Whether the server has heard it. What it has not is tried again. */
  async #tell(ended: Ended): Promise<boolean> {
    try {
      await ended.say()
      this.#unsaid.delete(ended)
      return true
    } catch (error) {
      const isOver = error instanceof DriverError && error.code === 'closed'
      if (!isOver && this.#isKept(ended)) this.#tryLater(ended, isOutage(error))
      return false
    }
  }

  #isKept({ id }: Ended): boolean {
    return this.#abandoning.has(id) || this.#known.has(id)
  }

  /** Nothing more is to be said, unless a letter comes for it. */
  #know(ended: Ended): void {
    const { id } = ended
    // There may be two of one attempt.
    if (this.#abandoning.get(id) === ended) this.#abandoning.delete(id)
    this.#known.delete(id)
    this.#known.set(id, ended)
    ended.since = performance.now()
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest)
  }

  #tryLater(ended: Ended, isAway: boolean): void {
    this.#unsaid.set(ended, isAway)
    this.#trying ??= startTimer(() => void this.#tryOne(), TRY_AFTER_MS).unref()
  }

  /** One stands for all: where it is heard, the others are. */
  async #tryOne(): Promise<void> {
    this.#trying = null
    this.#forgetOld()
    const [one] = this.#unsaid.keys()
    if (one === undefined) return
    // The next time another one is tried.
    this.#unsaid.delete(one)
    await this.#say(one)
    if (!this.#unsaid.has(one)) await this.#sayOthers()
  }

  async #sayOthers(): Promise<void> {
    const others = [...this.#unsaid.keys()]
    while (others.length > 0) {
      const some = others.splice(0, MOST_AT_ONCE).filter((other) => this.#unsaid.delete(other))
      await Promise.all(some.map((other) => this.#say(other)))
      // The store is away again: the rest is still unsaid.
      if (some.some((other) => this.#unsaid.get(other) === true)) return
    }
  }

  /** What the store refuses is not kept for ever; what it could not hear is, until it can. */
  #forgetOld(): void {
    const now = performance.now()
    for (const [id, { since }] of this.#known) {
      if (since >= now - KNOWN_FOR_MS) break
      this.#known.delete(id)
    }
    for (const [id, ended] of this.#abandoning) {
      if (ended.since >= now - KNOWN_FOR_MS) return
      this.#abandoning.delete(id)
      if (this.#unsaid.get(ended) === false) {
        this.#unsaid.delete(ended)
        continue
      }
      ended.since = now
      this.#abandoning.set(id, ended)
    }
  }
}
