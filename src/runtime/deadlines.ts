// Everything here that must end in time, with one timer for all of it: most is over long before.

/** What is under way. Instants are of `performance.now()`. */
export interface Due {
  /** When it has to be over. */
  readonly by: number
  /** Ends it: its time is over, or there is a reason to end it before. It is no longer watched. */
  giveUp(reason?: Error): void
}

export class Deadlines {
  readonly #open = new Set<Due>()
  #timer: NodeJS.Timeout | null = null
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

  /** Ends everything that is under way. */
  giveUpAll(reason: Error): void {
    for (const due of this.#open) this.#end(due, reason)
  }

  #plan(at: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timerAt = at
    this.#timer = setTimeout(() => this.#look(), Math.max(0, Math.ceil(at - performance.now())))
  }

  #look(): void {
    this.#timer = null
    this.#timerAt = Infinity
    const now = performance.now()
    for (const due of this.#open) if (due.by <= now) this.#end(due)
    let next = Infinity
    for (const { by } of this.#open) next = Math.min(next, by)
    if (next < this.#timerAt) this.#plan(next)
  }

  #end(due: Due, reason?: Error): void {
    this.#open.delete(due)
    due.giveUp(reason)
  }
}
