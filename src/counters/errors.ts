import { brand } from '../driver.ts'
import { PeriluneError } from '../runtime/errors/errors.ts'

export type SinkErrorCode =
  | 'sink-unreachable' // no connection, or lost during the call: safe to retry, and may succeed
  | 'sink-busy' // a deadlock, a serialisation failure or a lock timeout: nothing has changed
  | 'sink-misconfigured' // a table or a column is missing, of the wrong kind, or not that of other processes
  | 'sink-refused' // refused rows of some counters: all others are written; the refused changes are kept and retried
  | 'sink-failed'

/** A call to the database failed. `cause` has the original error. */
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

  /** Whether the same call may succeed later. */
  get isPassing(): boolean {
    return this.code === 'sink-unreachable' || this.code === 'sink-busy'
  }
}

/** A counter is not in the database, and `missing: 'refuse'` forbids to create it. Nothing was counted. */
export class UnknownCounterError extends PeriluneError {
  static {
    brand(this, 'UnknownCounterError')
  }

  override readonly name = 'UnknownCounterError'
  readonly code = 'unknown-counter'
  readonly id: string

  constructor(id: string) {
    super(`the counter ${JSON.stringify(id)} does not exist in the database`)
    this.id = id
  }
}

/** The database is behind: `mostDirty` counters of the partition wait for it. Nothing was counted. */
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

/** The value would leave the range of a 64-bit integer. Nothing was counted. */
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
