import { PeriluneError } from '../runtime/errors.ts'
import { within } from '../runtime/in-time.ts'

export type SinkErrorCode =
  | 'sink-unreachable' // no connection, or lost on the way: the same again is safe, and may go well
  | 'sink-busy' // a deadlock, a serialisation failure, a lock that did not come: nothing has changed
  | 'sink-misconfigured' // a table or a column is not there, or not of the kind that is needed
  | 'sink-failed'

/** The database could not do its part. The original is in `cause`. */
export class SinkError extends PeriluneError {
  override readonly name = 'SinkError'
  readonly code: SinkErrorCode

  constructor(code: SinkErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }

  /** Whether the same call may go well later. */
  get isPassing(): boolean {
    return this.code === 'sink-unreachable' || this.code === 'sink-busy'
  }
}

/** A counter is not in the database, and `unknown: 'refuse'` says that none is made. Nothing was counted. */
export class UnknownCounterError extends PeriluneError {
  override readonly name = 'UnknownCounterError'
  readonly code = 'unknown-counter'
  readonly id: string

  constructor(id: string) {
    super(`there is no counter ${JSON.stringify(id)}`)
    this.id = id
  }
}

/** A value would leave 64 bits. Nothing was counted. */
export class OverflowError extends PeriluneError {
  override readonly name = 'OverflowError'
  readonly code = 'overflow'
  readonly id: string

  constructor(id: string) {
    super(`the counter ${JSON.stringify(id)} would leave the range of a 64-bit integer`)
    this.id = id
  }
}

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
