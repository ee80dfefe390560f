// The units that this instance has deleted, for holders of their leases, jobs and messages. Other instances learn of a
// deletion from the server.
//
// Everything requested before the deletion is over, even if its answer arrives later: a call that was under way by then
// has nearly always run before the clear.

import { didNotHappen } from '../errors/outage.ts'
import type { Trace } from './run.ts'

/** The server reports forgotten deletions, as it does to other instances. */
const MOST_KNOWN = 1000

interface Times {
  readonly sentAt: number
  readonly answeredAt: number
}

export class Clearings {
  /**
   * For each unit, by the beginning of its keys: `performance.now()` before its last deletion was sent, and when it was
   * answered. Oldest first.
   */
  readonly #times = new Map<string, Times>()
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #isStrict: boolean

  /**
   * `strict`: what was requested while the deletion was under way is over, too, and where it has no answer. For claims,
   * about which the server is not asked; their acks still count.
   */
  constructor({ strict = false }: { strict?: boolean } = {}) {
    this.#isStrict = strict
  }

  /** Runs the deletion of a unit; everything requested of it before is then over. Rejects as `clear` does. */
  async run<Answer>(beginning: string, clear: (trace: Trace) => Promise<Answer>): Promise<Answer> {
    const sentAt = performance.now()
    const trace: Trace = {}
    const over = (): void => {
      const answeredAt = this.#isStrict || trace.sentAgain === true ? performance.now() : sentAt
      this.#note(beginning, { sentAt, answeredAt })
    }
    try {
      const answer = await clear(trace)
      over()
      return answer
    } catch (error) {
      if (this.#isStrict && !didNotHappen(error)) over()
      throw error
    }
  }

  /** True when a request to the unit at this `performance.now()` was made before its deletion. */
  since(beginning: string, askedAt: number): boolean {
    if (this.#times.size === 0) return false
    const times = this.#times.get(beginning)
    return times !== undefined && askedAt <= (this.#isStrict ? times.answeredAt : times.sentAt)
  }

  /**
   * True when it was made while the deletion was under way, which may have been sent again after it: because the server
   * did not know the script, or after a lost answer.
   */
  mayBeSince(beginning: string, askedAt: number): boolean {
    const times = this.#times.get(beginning)
    return times !== undefined && askedAt > times.sentAt && askedAt <= times.answeredAt
  }

  /** True when this instance's deletion of the unit ended less than `ms` ago: news of before may still arrive. */
  endedWithin(beginning: string, ms: number): boolean {
    const times = this.#times.get(beginning)
    return times !== undefined && performance.now() - times.answeredAt < ms
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

  #note(beginning: string, times: Times): void {
    this.#times.delete(beginning)
    this.#times.set(beginning, times)
    const [oldest] = this.#times.keys()
    if (this.#times.size > MOST_KNOWN && oldest !== undefined) this.#times.delete(oldest)
    for (const look of this.#watchers.get(beginning) ?? []) look()
  }
}
