// The units that this instance has deleted, for holders of their leases, jobs and messages. Other instances learn of a
// deletion from the server.
//
// Everything requested before the deletion is over, even if its answer arrives later: a call that was under way by then
// has nearly always run before the clear.

/** The server reports forgotten deletions, as it does to other instances. */
const MOST_KNOWN = 1000

export class Clearings {
  /**
   * For each unit, by the beginning of its keys: `performance.now()` before its last deletion was sent. Oldest first.
   */
  readonly #sentAt = new Map<string, number>()
  readonly #watchers = new Map<string, Set<() => void>>()

  /** Runs the deletion of a unit; everything requested of it before is then over. Rejects as `clear` does. */
  async run<Answer>(beginning: string, clear: () => Promise<Answer>): Promise<Answer> {
    const sentAt = performance.now()
    const answer = await clear()
    this.#note(beginning, sentAt)
    return answer
  }

  /** True when a request to the unit at this `performance.now()` was made before its deletion. */
  since(beginning: string, askedAt: number): boolean {
    if (this.#sentAt.size === 0) return false
    const sentAt = this.#sentAt.get(beginning)
    return sentAt !== undefined && askedAt <= sentAt
  }

  /** Calls `look` after each deletion of the unit, until the returned function is called. */
  watch(beginning: string, look: () => void): () => void {
    const watchers = this.#watchers.get(beginning) ?? new Set()
    this.#watchers.set(beginning, watchers)
    // The same function may be registered twice.
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
