import { brand } from '../driver.ts'
import { PeriluneError } from '../runtime/errors/errors.ts'

export type SinkErrorCode =
  | 'sink-unreachable' // no connection, or lost on the way: the same again is safe, and may go well
  | 'sink-busy' // a deadlock, a serialisation failure, a lock that did not come: nothing has changed
  | 'sink-misconfigured' // a table or a column is not there, or not of the kind that is needed
  | 'sink-refused' // it refused rows of some counters: all others are written, and these are kept beside and tried again
  | 'sink-failed'

/** The database could not do its part. The original is in `cause`. */
export class SinkError extends PeriluneError {
  static {
    brand(this, 'SinkError')
  }

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

/** A counter is not in the database, and `missing: 'refuse'` says that none is made. Nothing was counted. */
export class UnknownCounterError extends PeriluneError {
  static {
    brand(this, 'UnknownCounterError')
  }

  override readonly name = 'UnknownCounterError'
  readonly code = 'unknown-counter'
  readonly id: string

  constructor(id: string) {
    super(`there is no counter ${JSON.stringify(id)}`)
    this.id = id
  }
}

/** The database is behind, and `mostDirty` counters of the partition wait for it. Nothing was counted. */
export class BacklogError extends PeriluneError {
  static {
    brand(this, 'BacklogError')
  }

  override readonly name = 'BacklogError'
  readonly code = 'backlog'
  readonly id: string

  constructor(id: string, mostDirty: number) {
    super(`the counter ${JSON.stringify(id)} was not counted: ${mostDirty} others wait for the database`)
    this.id = id
  }
}

/** A value would leave 64 bits. Nothing was counted. */
export class OverflowError extends PeriluneError {
  static {
    brand(this, 'OverflowError')
  }

  override readonly name = 'OverflowError'
  readonly code = 'overflow'
  readonly id: string

  constructor(id: string) {
    super(`the counter ${JSON.stringify(id)} would leave the range of a 64-bit integer`)
    this.id = id
  }
}
