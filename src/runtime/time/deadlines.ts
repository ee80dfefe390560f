// Everything here that must end in time, with one timer for all of it: most is over long before.

import { type Linked, LinkedList } from '../../linked-list.ts'
import { startTimer, type Timer } from './timer.ts'

/** So long at most a process that stood still may yet send what it was asked for, and read what was answered. */
const LONGEST_MORE_MS = 200

/** What is under way. Instants are of `performance.now()`. */
export interface Due extends Linked {
  /** When it has to be over. */
  readonly by: number
  /** Ends it: its time is over, or there is a reason to end it before. It is no longer watched. */
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

  /** It is over. The timer stays for those that follow, and keeps no process alive for them. */
  remove(due: Due): void {
    if (this.#open.delete(due) && this.#open.size === 0) this.#timer?.unref()
  }

  /** Ends everything that is under way now, and leaves no timer for it. */
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
   * A process that stood still finds its timers due before it has sent all that it was asked for, and read what was answered: nothing of
   * that is a failure. So all has as much more time as the timer is late, and so has the next step of a call whose time is over by then.
   */
  #due(at: number): void {
    const lateMs = Math.max(0, performance.now() - at)
    const moreMs = Math.min(lateMs, LONGEST_MORE_MS)
    this.#timer = startTimer(() => setImmediate(() => this.#look()), moreMs)
    if (this.#open.size === 0) this.#timer.unref()
  }

  #stop(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#timerAt = Infinity
  }

  #look(): void {
    this.#stop()
    const now = performance.now()
    this.#endAll([...this.#open].filter(({ by }) => by <= now))
    let next = Infinity
    for (const { by } of this.#open) next = Math.min(next, by)
    if (next < this.#timerAt) this.#plan(next)
  }

  /** A list of its own: what is given up may add itself again, or remove others. */
  #endAll(dues: readonly Due[], reason?: Error): void {
    for (const due of dues) if (this.#open.delete(due)) due.giveUp(reason)
  }
}
