// Calls to the database: each has a deadline, is retried while the database is away, or waits for the call before it.

import { DriverError } from '../runtime/errors/errors.ts'
import { summaryOf } from '../runtime/errors/thrown.ts'
import { ExponentialBackoff } from '../runtime/time/backoff.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { inTime, rest } from '../runtime/time/in-time.ts'
import { SinkError } from './errors.ts'

/** A caller that waits for more than the database gives up at `by`, and would throw an AmbiguousError. */
const AHEAD_MS = 5
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 2000
/** How long a dead connection that was never closed is waited for. */
const UNANSWERED_MS = 60_000

/**
 * Settles like the promise of a sink. Throws SinkError if that takes until just before `by`, or rejects with another
 * error. Ends with everything that these deadlines watch.
 */
export async function sinkInTime<Value>(
  promise: Promise<Value>,
  by: number,
  deadlines: Deadlines,
): Promise<Value> {
  try {
    return await inTime(promise, Math.max(performance.now() + 1, by - AHEAD_MS), deadlines)
  } catch (error) {
    const isLate = error instanceof DriverError && error.code === 'unreachable'
    if (!isLate) throw error
    const { cause } = error
    const why =
      cause === undefined
        ? 'the database did not answer before the deadline'
        : `the sink failed: ${summaryOf(cause)}`
    throw new SinkError('sink-unreachable', why, { cause: cause ?? error })
  }
}

/**
 * Retries `work` while the database is away or busy, until `patienceMs` is over, and passes it its deadline. Ends with
 * everything that these deadlines watch. Throws SinkError, or the reason of the signal.
 */
export async function patiently<Result>(
  work: (by: number) => Promise<Result>,
  patienceMs: number,
  deadlines: Deadlines,
  signal?: AbortSignal,
): Promise<Result> {
  const by = performance.now() + patienceMs
  const backoff = new ExponentialBackoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  for (;;) {
    const pauseMs = backoff.next()
    try {
      return await sinkInTime(work(by), by, deadlines)
    } catch (error) {
      const isPassing = error instanceof SinkError && error.isPassing
      if (!isPassing || performance.now() + pauseMs > by) throw error
    }
    await rest(pauseMs, deadlines, signal)
  }
}

/**
 * Runs work that may wait for locks in the database, one at a time. Waiting work holds a connection, even after its
 * caller has given up: without this, each flush would take another one until the pool has none left for reads.
 */
export class OneAtATime {
  readonly #deadlines: Deadlines
  /** The running work, while the database has not answered; it never rejects. */
  #underWay: Promise<void> | null = null

  constructor(deadlines: Deadlines) {
    this.#deadlines = deadlines
  }

  /** Waits until `by` for the running work. Throws SinkError, and the errors of the work. */
  async run<Result>(work: () => Promise<Result>, by: number): Promise<Result> {
    while (this.#underWay !== null) await sinkInTime(this.#underWay, by, this.#deadlines)
    return this.#begin(work)
  }

  /** Returns null if other work is running: for work that can be done later. */
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
