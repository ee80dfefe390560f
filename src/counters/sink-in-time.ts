import type { Deadlines } from '../runtime/time/deadlines.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { inTime } from '../runtime/time/in-time.ts'
import { summaryOf } from '../runtime/errors/thrown.ts'
import { SinkError } from './errors.ts'

/** Whoever waits for more than the database gives up at `by`, and knows less: it may have happened. */
const AHEAD_MS = 5

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
