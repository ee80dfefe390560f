// Attempts that ended without a lease, and those of work that ended in an outage. Their last word to the server takes them out of its line,
// gives back what they were granted meanwhile, or tells how the work ended. That word may be lost, undone by a failover, or overtaken by a late copy of a question, so:
//
//   ABANDONING ──the server has heard it, and nothing can come late──► KNOWN ──two minutes, or many others──► forgotten
//     ▲ ▲ │└───a copy may be on its way: said again after 1, 3, 10, 30 and 60 s
//     │ │ └────it failed──► UNSAID: one of them is tried each second, and stands for those of its node (unsaid.ts)
//     │ └───────────────────────┘
//     └── a letter comes for it: the server takes it for one who waits
//
// Those that had what they waited for, and are over, are KNOWN from then on: a server that goes on from an older state, as after a failover, still
// has them in its line.
//
// In an outage many attempts end so. When the server is back it may first read their questions, which waited in some buffer,
// and grant them what nobody will use. So their last words must follow soon, and are not tried each by itself. However many end
// after them: where there are too many, it is the newest that are not kept, for the oldest are those that may have reached the server.

import { DriverError } from '../errors/errors.ts'
import { isOutage } from '../errors/outage.ts'
import { startTimer, type Timer } from '../time/timer.ts'
import { Unsaid } from './unsaid.ts'

const AGAIN_AFTER_MS = [1000, 3000, 10_000, 30_000, 60_000]
const KNOWN_FOR_MS = 120_000
const MOST_KNOWN = 10_000
const MOST_ABANDONING = 100_000

/** The last word of an attempt. */
export interface LastWord {
  /** Abandons the attempt, and may be called often. */
  readonly say: () => Promise<unknown>
  /** Names the node that it is said to; default: there is but one. */
  readonly node?: (() => string) | undefined
  /** A copy of a question may still be on its way. */
  readonly mayComeLate: boolean
}

interface Ended extends Pick<LastWord, 'say' | 'node'> {
  readonly id: string
  /** After so long it is said again, once it was heard. */
  again: readonly number[]
  since: number
  /** The last time it was said. */
  wasRefused: boolean
  timer: Timer | null
}

export class Abandoned {
  /** Those that are to be said yet, or again. The oldest first. */
  readonly #abandoning = new Map<string, Ended>()
  /** The oldest first. */
  readonly #known = new Map<string, Ended>()
  /** Those whose last word failed. */
  readonly #unsaid = new Unsaid<Ended>((ended) => this.#sayAgain(ended))
  #closed = false

  add(id: string, { say, node, mayComeLate }: LastWord): void {
    this.#forgetOld()
    const isKept = !this.#closed && this.#abandoning.size < MOST_ABANDONING
    const again = isKept && mayComeLate ? AGAIN_AFTER_MS : []
    const ended: Ended = { id, say, node, again, since: performance.now(), wasRefused: false, timer: null }
    if (isKept) this.#abandoning.set(id, ended)
    void this.#say(ended)
  }

  /** An attempt that had what it waited for is over. There is nothing to say, unless a letter comes for it. */
  know(id: string, { say, node }: Omit<LastWord, 'mayComeLate'>): void {
    this.#forgetOld()
    if (!this.#closed) this.#know({ id, say, node, again: [], since: 0, wasRefused: false, timer: null })
  }

  /** The server has told something to an attempt that is over. */
  heard(id: string): void {
    const ended = this.#abandoning.get(id) ?? this.#known.get(id)
    if (ended === undefined) return
    // What was not said yet goes on from here.
    void (this.#unsaid.delete(ended) ? this.#say(ended) : this.#tell(ended))
  }

  close(): void {
    this.#closed = true
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

  #sayAgain(ended: Ended): Promise<void> {
    this.#forgetOld()
    return this.#say(ended)
  }

  /** Whether the server has heard it. What it has not is tried again. */
  async #tell(ended: Ended): Promise<boolean> {
    try {
      await ended.say()
      this.#unsaid.delete(ended)
      ended.wasRefused = false
      return true
    } catch (error) {
      const isOver = error instanceof DriverError && error.code === 'closed'
      ended.wasRefused = !isOutage(error)
      if (!isOver && this.#isKept(ended)) this.#unsaid.add(ended, ended.node?.() ?? '', !ended.wasRefused)
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
      if (ended.wasRefused) {
        this.#unsaid.delete(ended)
        continue
      }
      ended.since = now
      this.#abandoning.set(id, ended)
    }
  }
}
