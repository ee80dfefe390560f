// Attempts that ended without a lease. Their last word to the server takes them out of its line, or gives back what they were
// granted meanwhile. That word may be lost, undone by a failover, or overtaken by a late copy of a question, so:
//
//   ABANDONING ──the server has heard it, and nothing can come late──► KNOWN ──two minutes──► forgotten
//     ▲ ▲ │└───a copy may be on its way: said again after 1, 3, 10, 30 and 60 s
//     │ │ └────it failed──► UNSAID: one of them is tried each second; once that one is heard, all others are said
//     │ └───────────────────────┘
//     └── a letter comes for it: the server takes it for one who waits
//
// In an outage many attempts end so. When the server is back it may first read their questions, which waited in some buffer,
// and grant them what nobody will use. So their last words must follow soon, and are not tried each by itself.

import { DriverError } from './errors.ts'
import { isOutage } from './outage.ts'
import { startTimer, type Timer } from './timer.ts'

const AGAIN_AFTER_MS = [1000, 3000, 10_000, 30_000, 60_000]
const TRY_AFTER_MS = 1000
const KNOWN_FOR_MS = 120_000
const MOST_KNOWN = 10_000

interface Ended {
  readonly id: string
  readonly say: () => Promise<unknown>
  /** After so long it is said again, once it was heard. */
  again: readonly number[]
  since: number
  timer: Timer | null
}

export class Abandoned {
  /** The oldest first. */
  readonly #ended = new Map<string, Ended>()
  /** Those whose last word failed, and whether the store could not decide. */
  readonly #unsaid = new Map<Ended, boolean>()
  #trying: Timer | null = null
  #closed = false

  /** `say` abandons the attempt, and may be called often. `mayComeLate`: a copy of a question may still be on its way. */
  add(id: string, say: () => Promise<unknown>, mayComeLate: boolean): void {
    this.#forgetOld()
    const again = mayComeLate ? AGAIN_AFTER_MS : []
    const ended: Ended = { id, say, again, since: performance.now(), timer: null }
    if (!this.#closed) this.#ended.set(id, ended)
    void this.#say(ended)
  }

  /** The server has told something to an attempt that is over. */
  heard(id: string): void {
    const ended = this.#ended.get(id)
    if (ended !== undefined) void this.#tell(ended)
  }

  close(): void {
    this.#closed = true
    this.#trying?.cancel()
    for (const { timer } of this.#ended.values()) timer?.cancel()
    this.#ended.clear()
    this.#unsaid.clear()
  }

  async #say(ended: Ended): Promise<void> {
    if (!(await this.#tell(ended)) || this.#closed) return
    const [ms, ...later] = ended.again
    ended.again = later
    if (ms !== undefined) ended.timer = startTimer(() => void this.#say(ended), ms).unref()
  }

  /** Whether the server has heard it. What it has not is tried again. */
  async #tell(ended: Ended): Promise<boolean> {
    try {
      await ended.say()
      this.#unsaid.delete(ended)
      return true
    } catch (error) {
      const isOver = error instanceof DriverError && error.code === 'closed'
      if (!isOver && this.#ended.has(ended.id)) this.#tryLater(ended, isOutage(error))
      return false
    }
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
    if (this.#unsaid.has(one)) return
    const others = [...this.#unsaid.keys()]
    this.#unsaid.clear()
    for (const other of others) void this.#say(other)
  }

  /** What the store could not hear is kept until it can. */
  #forgetOld(): void {
    const now = performance.now()
    for (const [id, ended] of this.#ended) {
      const isOld = ended.since < now - KNOWN_FOR_MS
      if (!isOld && this.#ended.size < MOST_KNOWN) return
      this.#ended.delete(id)
      if (isOld && this.#unsaid.get(ended) === true) {
        ended.since = now
        this.#ended.set(id, ended)
        continue
      }
      ended.timer?.cancel()
      this.#unsaid.delete(ended)
    }
  }
}
