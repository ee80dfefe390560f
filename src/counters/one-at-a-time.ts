// Work that may wait in the database for what others hold there: one at a time. Who waits holds a connection, and goes on to do so
// when nobody waits for it any more: each flush would take another one, until the pool has none left to read with.

import type { Deadlines } from '../runtime/time/deadlines.ts'
import { inTime } from '../runtime/time/in-time.ts'
import { sinkInTime } from './sink-in-time.ts'

/** A connection that is dead though nobody closed it is not waited for longer. */
const UNANSWERED_MS = 60_000

export class OneAtATime {
  readonly #deadlines: Deadlines
  /** The last piece of work, while the database has not answered; it never rejects. */
  #underWay: Promise<void> | null = null

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  /** Waits for what is under way until then. Throws SinkError, and what the work throws. */
  async run<Result>(work: () => Promise<Result>, by: number): Promise<Result> {
    while (this.#underWay !== null) await sinkInTime(this.#underWay, by, this.#deadlines)
    return this.#begin(work)
  }

  /** Null while some is under way: for what may as well be done another time. */
  async runUnlessBusy<Result>(work: () => Promise<Result>): Promise<Result | null> {
    return this.#underWay === null ? this.#begin(work) : null
  }

  #begin<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = work()
    const settled = (): void => {
      this.#underWay = null
    }
    this.#underWay = inTime(result, performance.now() + UNANSWERED_MS, this.#deadlines).then(settled, settled)
    return result
  }
}
