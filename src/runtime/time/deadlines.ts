// Everything with a deadline in this process, with one timer for all: most ends long before its deadline.

import { type Linked, LinkedList } from '../../linked-list.ts'
import { startTimer, type Timer } from './timer.ts'

/** The maximum extra time in which a stalled process may still send requests and read answers. */
const LONGEST_MORE_MS = 200

/** An entry with a deadline. All times are of `performance.now()`. */
export interface Due extends Linked {
  /** The deadline. */
  readonly by: number
  /** Ends it: at its deadline, or earlier for a reason. It is no longer watched. */
  giveUp(reason?: Error): void
}

export class Deadlines {
  readonly #open = new LinkedList<Due>()
  #timer: Timer | null = null
  #timerAt = Infinity

  add(due: Due): void {
    this.#open.add(due)
    if (due.by < this.#timerAt) this.#plan(due.by)
    else if (this.#open.size === 1) this.#timer?.ref()
  }

  /** The entry has ended. The timer stays for later entries, and keeps no process alive for them. */
  remove(due: Due): void {
    if (this.#open.delete(due) && this.#open.size === 0) this.#timer?.unref()
  }

  /** Ends all current entries, and leaves no timer for them. */
  giveUpAll(reason: Error): void {
    this.#stop()
    this.#endAll([...this.#open], reason)
  }

  #plan(at: number): void {
    this.#stop()
    this.#timerAt = at
    this.#timer = startTimer(() => this.#due(at), Math.max(0, Math.ceil(at - performance.now())))
  }

  /**
   * After a stall, timers fire before the process has sent its requests and read the answers: none of these has failed.
   * So every entry gets as much extra time as the timer is late, and so does the next step of a call whose deadline has
   * passed by then. What becomes due during that time, because the process stalls once more, gets extra time of its own.
   */
  #due(at: number): void {
    const now = performance.now()
    const moreMs = Math.min(Math.max(0, now - at), LONGEST_MORE_MS)
    this.#timer = startTimer(() => setImmediate(() => this.#look(now)), moreMs)
    if (this.#open.size === 0) this.#timer.unref()
  }

  #stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#timerAt = Infinity
  }

  /** Ends what was due at this `performance.now()`. */
  #look(dueAt: number): void {
    this.#stop()
    this.#endAll([...this.#open].filter(({ by }) => by <= dueAt))
    let next = Infinity
    for (const { by } of this.#open) next = Math.min(next, by)
    if (next < this.#timerAt) this.#plan(next)
  }

  /** Works on its own list: an ended entry may add itself again, or remove others. */
  #endAll(dues: readonly Due[], reason?: Error): void {
    for (const due of dues) if (this.#open.delete(due)) due.giveUp(reason)
  }
}
