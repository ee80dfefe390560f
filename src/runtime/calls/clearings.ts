// The units that this instance has deleted, for holders of their leases, jobs and messages. Other instances learn of a
// deletion from the server.
//
// Everything requested before the deletion is over, even if its answer arrives later: a call that was under way by then
// has nearly always run before the clear. What was requested while it was under way is in doubt if it was sent again,
// and everything is if it has no answer. Then the server is asked.

import { didNotHappen } from '../errors/outage.ts'
import type { Trace } from './run.ts'

/** The server reports forgotten deletions, as it does to other instances. */
const MOST_KNOWN = 1000

/** All by `performance.now()`. */
interface Times {
  /** Before the last answered deletion was sent: what was requested until then is over. */
  readonly over: number
  /** What was requested until then, and is not over, is in doubt. Never before `over`. */
  readonly doubtUntil: number
  /** When the last deletion was answered, or given up. */
  readonly endedAt: number
}

export class Clearings {
  /** For each unit, by the beginning of its keys. Oldest first. */
  readonly #times = new Map<string, Times>()
  /** The unit of each deletion that is under way. */
  readonly #underWay: string[] = []
  readonly #watchers = new Map<string, Set<() => void>>()
  readonly #isCluster: () => boolean

  /** `isCluster`: there clients themselves send calls again, which a trace does not show. */
  constructor(isCluster: () => boolean = () => false) {
    this.#isCluster = isCluster
  }

  /**
   * Runs the deletion of units that one call deletes; everything requested of them before is then over. Rejects as
   * `clear` does.
   */
  async run<Answer>(
    beginnings: readonly string[],
    clear: (trace: Trace) => Promise<Answer>,
  ): Promise<Answer> {
    const sentAt = performance.now()
    this.#underWay.push(...beginnings)
    const trace: Trace = {}
    const note = (over: number, doubtUntil: number): void =>
      beginnings.forEach((each) => this.#note(each, over, doubtUntil))
    try {
      const answer = await clear(trace)
      // Sent again because the server did not know the script, or after a lost answer: later requests may have run first.
      const wasSentAgain = trace.sentAgain === true || this.#isCluster()
      note(sentAt, wasSentAgain ? performance.now() : sentAt)
      return answer
    } catch (error) {
      if (!didNotHappen(error)) note(-Infinity, performance.now())
      throw error
    } finally {
      for (const each of beginnings) this.#underWay.splice(this.#underWay.indexOf(each), 1)
    }
  }

  /** True when a request to the unit at this `performance.now()` was made before its deletion. */
  since(beginning: string, askedAt: number): boolean {
    return askedAt <= (this.#times.get(beginning)?.over ?? -Infinity)
  }

  /** True when only the server knows whether it was. */
  mayBeSince(beginning: string, askedAt: number): boolean {
    return this.concerns(beginning, askedAt) && !this.since(beginning, askedAt)
  }

  /** True when an answer that has just come to such a request proves nothing, because of one or the other. */
  concerns(beginning: string, askedAt: number): boolean {
    return askedAt <= (this.#times.get(beginning)?.doubtUntil ?? -Infinity)
  }

  /** True when a deletion of the unit is under way, or ended less than `ms` ago: news of before may arrive. */
  isRecent(beginning: string, ms: number): boolean {
    if (this.#underWay.includes(beginning)) return true
    const times = this.#times.get(beginning)
    return times !== undefined && performance.now() - times.endedAt < ms
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

  #note(beginning: string, over: number, doubtUntil: number): void {
    const before = this.#times.get(beginning) ?? { over, doubtUntil }
    this.#times.delete(beginning)
    this.#times.set(beginning, {
      over: Math.max(before.over, over),
      doubtUntil: Math.max(before.doubtUntil, doubtUntil),
      endedAt: performance.now(),
    })
    const [oldest] = this.#times.keys()
    if (this.#times.size > MOST_KNOWN && oldest !== undefined) this.#times.delete(oldest)
    for (const look of this.#watchers.get(beginning) ?? []) look()
  }
}
