// Which units this instance has deleted, for those who hold something of them. Other instances learn of it from the server.
//
// What was asked for before is over, also where its answer comes later: a call that was on its way by then is carried out before
// the clear, nearly always.

/** One that is forgotten is told by the server, as to others. */
const MOST_KNOWN = 1000

export class Clearings {
  /** `performance.now()` before the newest one was sent, by what the keys of the unit begin with. The oldest first. */
  readonly #sentAt = new Map<string, number>()
  readonly #watchers = new Map<string, Set<() => void>>()

  /** Runs what deletes a unit: what was asked of it by now is over then. Rejects as `clear` does. */
  async run<Answer>(beginning: string, clear: () => Promise<Answer>): Promise<Answer> {
    const sentAt = performance.now()
    const answer = await clear()
    this.#note(beginning, sentAt)
    return answer
  }

  /** True where what was asked of the unit at this instant of `performance.now()` is over. */
  since(beginning: string, askedAt: number): boolean {
    if (this.#sentAt.size === 0) return false
    const sentAt = this.#sentAt.get(beginning)
    return sentAt !== undefined && askedAt <= sentAt
  }

  /** Calls `look` each time the unit was deleted, until the function that is answered is called. */
  watch(beginning: string, look: () => void): () => void {
    const watchers = this.#watchers.get(beginning) ?? new Set()
    this.#watchers.set(beginning, watchers)
    // The same function may watch twice.
    const watcher = (): void => look()
    watchers.add(watcher)
    return () => {
      watchers.delete(watcher)
      if (watchers.size === 0 && this.#watchers.get(beginning) === watchers) this.#watchers.delete(beginning)
    }
  }

  #note(beginning: string, sentAt: number): void {
    this.#sentAt.delete(beginning)
    this.#sentAt.set(beginning, sentAt)
    const [oldest] = this.#sentAt.keys()
    if (this.#sentAt.size > MOST_KNOWN && oldest !== undefined) this.#sentAt.delete(oldest)
    for (const look of this.#watchers.get(beginning) ?? []) look()
  }
}
