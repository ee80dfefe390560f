// Calls to the database: each is in time, is made again while the database is away, or waits for the one before it.

import { DriverError } from '../runtime/errors/errors.ts'
import { summaryOf } from '../runtime/errors/thrown.ts'
import { ExponentialBackoff } from '../runtime/time/backoff.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { inTime, rest } from '../runtime/time/in-time.ts'
import { SinkError } from './errors.ts'

/** Whoever waits for more than the database gives up at `by`, and knows less: it may have happened. */
const AHEAD_MS = 5
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 2000
/** A connection that is dead though nobody closed it is not waited for longer. */
const UNANSWERED_MS = 60_000

/**
 * As the promise of a sink; SinkError when it takes longer than until just before `by`, or fails with no error of ours. Ends
 * with all that these deadlines watch.
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
 * Does the same again while the database is away or busy, for so long; it is told until when. Ends with all that these
 * deadlines watch. Throws SinkError, or the reason of the signal.
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
 * Work that may wait in the database for what others hold there: one at a time. Who waits holds a connection, and goes on to do so
 * when nobody waits for it any more: each flush would take another one, until the pool has none left to read with.
 */
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
