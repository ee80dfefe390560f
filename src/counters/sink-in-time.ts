import { PeriluneError } from '../runtime/errors.ts'
import { within } from '../runtime/in-time.ts'
import { SinkError } from './errors.ts'

/** Whoever waits for more than the database gives up at `by`, and knows less: it may have happened. */
const AHEAD_MS = 5

/** As the promise of a sink; SinkError when it takes longer than until just before `by`, or fails with no error of ours. */
export async function sinkInTime<Value>(promise: Promise<Value>, by: number): Promise<Value> {
  try {
    return await within(promise, Math.max(1, by - AHEAD_MS - performance.now()))
  } catch (error) {
    if (error instanceof PeriluneError) throw error
    throw new SinkError('sink-unreachable', 'the database did not answer before the deadline', {
      cause: error,
    })
  }
}
