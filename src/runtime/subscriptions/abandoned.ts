// Attempts that ended without a lease, and attempts of work that ended in an outage. A final call to the server removes
// them from its line, gives back what was granted in the meantime, or reports how the work ended. That call may be
// lost, undone by a failover, or overtaken by a late copy of a request, so:
//
//   ABANDONING ──the server has received it, and no copy can arrive──► KNOWN ──two minutes, or many others──► forgotten
//     ▲ ▲ │└───a copy may be under way: repeated after 1, 3, 10, 30 and 60 s
//     │ │ └────it failed──► UNSAID: one per node is retried each second, on behalf of the others (unsaid.ts)
//     │ └───────────────────────┘
//     └── a letter comes for it: the server still has it as a waiter
//
// Attempts whose lease or job is over are KNOWN from then on: a server that continues from an older state, as after a
// failover, still has them in its line.
//
// An outage ends many attempts this way. When the server is back, it may first process their buffered requests and
// grant them leases without a holder. So their final calls must follow soon, and are not retried one by one. Above the
// limit the newest are dropped, because the oldest are those that may have reached the server.

import { DriverError } from '../errors/errors.ts'
import { isOutage } from '../errors/outage.ts'
import { startTimer, type Timer } from '../time/timer.ts'
import { Unsaid } from './unsaid.ts'

const AGAIN_AFTER_MS = [1000, 3000, 10_000, 30_000, 60_000]
const KNOWN_FOR_MS = 120_000
const MOST_KNOWN = 10_000
const MOST_ABANDONING = 100_000

/** The final call of attempts. Ended attempts are many and stay for minutes, so those of one kind share it. */
export interface LastWord {
  /** Abandons the attempt; may be called often. */
  abandon(id: string): Promise<unknown>
  /** Names the node of the call; default: there is only one. */
  readonly node?: string
}

interface Ended {
  readonly id: string
  readonly word: LastWord
  /** The pauses before repetitions, once the server has received it. */
  again: readonly number[]
  since: number
  /** Whether the last call was rejected. */
  wasRefused: boolean
  timer: Timer | null
}

export class Abandoned {
  /** Calls still to be made or repeated. Oldest first. */
  readonly #abandoning = new Map<string, Ended>()
  /**
   * Two maps take turns: a map whose oldest entry is deleted for each new one takes the longer to find it the more were
   * deleted.
   */
  #known = new Map<string, LastWord>()
  #knownBefore = new Map<string, LastWord>()
  #knownSince = 0
  #forgetAt = 0
  /** Attempts whose final call failed. */
  readonly #unsaid = new Unsaid<Ended>((ended) => this.#sayAgain(ended))
  #closed = false

  /** `mayComeLate`: a copy of a request may still be under way. */
  add(id: string, word: LastWord, mayComeLate: boolean): void {
    const since = this.#forgetOld()
    const isKept = !this.#closed && this.#abandoning.size < MOST_ABANDONING
    const again = isKept && mayComeLate ? AGAIN_AFTER_MS : []
    const ended: Ended = { id, word, again, since, wasRefused: false, timer: null }
    if (isKept) this.#abandoning.set(id, ended)
    void this.#say(ended)
  }

  /** The lease or job of an attempt is over. No call is needed unless a letter comes for it. */
  know(id: string, word: LastWord): void {
    const now = this.#forgetOld()
    if (this.#known.size >= MOST_KNOWN || now - this.#knownSince > KNOWN_FOR_MS) {
      this.#knownBefore = this.#known
      this.#known = new Map()
      this.#knownSince = now
    }
    if (!this.#closed) this.#known.set(id, word)
  }

  /** The server has sent a letter to an attempt that is over. */
  heard(id: string): void {
    const ended = this.#abandoning.get(id)
    const known = this.#known.get(id) ?? this.#knownBefore.get(id)
    // A call that was waiting for a retry is made now.
    if (ended !== undefined) void (this.#unsaid.delete(ended) ? this.#say(ended) : this.#send(ended))
    else if (known !== undefined) this.add(id, known, false)
  }

  close(): void {
    this.#closed = true
    for (const { timer } of this.#abandoning.values()) timer?.cancel()
    this.#abandoning.clear()
    this.#known = this.#knownBefore = new Map()
    this.#unsaid.clear()
  }

  async #say(ended: Ended): Promise<void> {
    if (!(await this.#send(ended)) || this.#closed) return
    const [ms, ...later] = ended.again
    ended.again = later
    if (ms !== undefined) ended.timer = startTimer(() => void this.#say(ended), ms).unref()
    else this.#isSaid(ended)
  }

  #sayAgain(ended: Ended): Promise<void> {
    this.#forgetOld()
    return this.#say(ended)
  }

  /** Whether the server has received the call. A failed call is retried. */
  async #send(ended: Ended): Promise<boolean> {
    try {
      await ended.word.abandon(ended.id)
      this.#unsaid.delete(ended)
      ended.wasRefused = false
      return true
    } catch (error) {
      const isOver = error instanceof DriverError && error.code === 'closed'
      ended.wasRefused = !isOutage(error)
      const isKept = !isOver && this.#abandoning.has(ended.id)
      if (isKept) this.#unsaid.add(ended, ended.word.node ?? '', !ended.wasRefused)
      return false
    }
  }

  /** No further call is needed unless a letter comes for it. */
  #isSaid(ended: Ended): void {
    const { id, word } = ended
    // The same attempt may have been added twice.
    if (this.#abandoning.get(id) === ended) this.#abandoning.delete(id)
    this.know(id, word)
  }

  /** Rejected calls are dropped in time; calls that the server could not receive are kept until it can. Returns now. */
  #forgetOld(): number {
    const now = performance.now()
    // A map with many deleted entries takes long to find its first one.
    if (now < this.#forgetAt) return now
    this.#forgetAt = now + 1000
    for (const [id, ended] of this.#abandoning) {
      if (ended.since >= now - KNOWN_FOR_MS) break
      this.#abandoning.delete(id)
      if (ended.wasRefused) {
        this.#unsaid.delete(ended)
        continue
      }
      ended.since = now
      this.#abandoning.set(id, ended)
    }
    return now
  }
}
