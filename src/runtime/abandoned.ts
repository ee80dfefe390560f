// Attempts that ended without a lease. Their last word to the server takes them out of its line, or gives back what they were
// granted meanwhile. That word may be lost, undone by a failover, or overtaken by a late copy of a question, so:
//
//   ABANDONING ──the server has heard it, and nothing can come late──► KNOWN ──two minutes──► forgotten
//       ▲  └──it failed, or a copy may be on its way──► said again after 1, 3, 10, 30 and 60 s
//       └── a letter comes for it: the server takes it for one who waits

import { DriverError } from './errors.ts'
import { startTimer, type Timer } from './timer.ts'

const AGAIN_AFTER_MS = [1000, 3000, 10_000, 30_000, 60_000]
const KNOWN_FOR_MS = 120_000
const MOST_KNOWN = 10_000

interface Ended {
  readonly say: () => Promise<unknown>
  readonly since: number
  timer: Timer | null
}

export class Abandoned {
  /** The oldest first. */
  readonly #ended = new Map<string, Ended>()
  #closed = false

  /** `say` abandons the attempt, and may be called often. `mayComeLate`: a copy of a question may still be on its way. */
  add(id: string, say: () => Promise<unknown>, mayComeLate: boolean): void {
    this.#forgetOld()
    const ended: Ended = { say, since: performance.now(), timer: null }
    if (!this.#closed) this.#ended.set(id, ended)
    void this.#say(ended, mayComeLate ? AGAIN_AFTER_MS : [], AGAIN_AFTER_MS)
  }

  /** The server has told something to an attempt that is over. */
  heard(id: string): void {
    const ended = this.#ended.get(id)
    if (ended !== undefined) void this.#say(ended, [], [])
  }

  close(): void {
    this.#closed = true
    for (const { timer } of this.#ended.values()) timer?.cancel()
    this.#ended.clear()
  }

  /** Then says it after each of these times again; where it failed, after those. */
  async #say(ended: Ended, again: readonly number[], ifFailed: readonly number[]): Promise<void> {
    let next = again
    try {
      await ended.say()
    } catch (error) {
      if (error instanceof DriverError && error.code === 'closed') return
      next = ifFailed
    }
    const [ms, ...later] = next
    if (ms === undefined || this.#closed) return
    const mayComeLate = again.length > 0
    ended.timer = startTimer(() => void this.#say(ended, mayComeLate ? later : [], later), ms).unref()
  }

  #forgetOld(): void {
    const before = performance.now() - KNOWN_FOR_MS
    for (const [id, { since, timer }] of this.#ended) {
      if (since >= before && this.#ended.size < MOST_KNOWN) return
      timer?.cancel()
      this.#ended.delete(id)
    }
  }
}
