import { PeriluneError } from '../runtime/errors.ts'
import { within } from '../runtime/in-time.ts'
import { SinkError } from './errors.ts'

/** As the promise of a sink; SinkError when it takes longer than until `by`, or fails with no error of ours. */
export async function sinkInTime<Value>(promise: Promise<Value>, by: number): Promise<Value> {
  try {
    return await within(promise, Math.max(1, by - performance.now()))
  } catch (error) {
    if (error instanceof PeriluneError) throw error
    throw new SinkError('sink-unreachable', 'the database did not answer before the deadline', {
      cause: error,
    })
  }
}
