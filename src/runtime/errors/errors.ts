// Every error that Perilune itself throws. `code` never changes; the HTTP service uses the same codes.

import { brand } from '../../driver.ts'

export type DriverErrorCode =
  | 'unreachable' // no server answered before the deadline, and the call did not happen
  | 'busy' // until the deadline the server could not take the call: it was loading, moving slots, or running a script
  | 'store-full'
  | 'store-read-only' // the server is a replica, has too few replicas, or cannot write to its disk
  | 'forbidden'
  | 'unknown-layout' // the data was written by a version of Perilune that this version does not know
  | 'script-failed'
  | 'overloaded' // too many calls of this process are waiting already
  | 'closed'

export abstract class PeriluneError extends Error {
  static {
    brand(this, 'PeriluneError')
  }

  abstract readonly code: string
}

/** An argument was invalid; nothing was sent. `argument` names it. */
export class InvalidArgumentError extends PeriluneError {
  static {
    brand(this, 'InvalidArgumentError')
  }

  override readonly name = 'InvalidArgumentError'
  readonly code = 'invalid-argument'
  readonly argument: string

  constructor(argument: string, expected: string) {
    super(`${argument} ${expected}`)
    this.argument = argument
  }
}

/** The awaited event did not happen within `wait`. `resource` names what was waited for. */
export class WaitTimeoutError extends PeriluneError {
  static {
    brand(this, 'WaitTimeoutError')
  }

  override readonly name = 'WaitTimeoutError'
  readonly code = 'wait-timeout'
  readonly resource: string

  constructor(resource: string, wait: string = 'one attempt') {
    super(`${resource} was not obtained in ${wait}`)
    this.resource = resource
  }
}

/** The lease is over: it expired, its work was settled, or it was taken away. */
export class LeaseLostError extends PeriluneError {
  static {
    brand(this, 'LeaseLostError')
  }

  override readonly name = 'LeaseLostError'
  readonly code = 'lease-lost'
  readonly resource: string
  readonly token: number

  constructor(resource: string, token: number, options?: ErrorOptions) {
    super(`the lease on ${resource} (token ${token}) is over`, options)
    this.resource = resource
    this.token = token
  }
}

const AMBIGUITIES = {
  none: (operation: string) => `no answer to ${operation} before the deadline`,
  unreadable: (operation: string) => `the answer to ${operation} cannot be read`,
  'first-lost': (operation: string) => `the first answer to ${operation} was lost`,
  'in-part': (operation: string) => `only ${operation} were carried out`,
} as const

/**
 * The call may have happened. Either no readable answer arrived before the deadline, or the call was sent twice and the
 * second answer does not show the outcome of the first, or only a part was carried out. Repeating it with the same key
 * is safe.
 */
export class AmbiguousError extends PeriluneError {
  static {
    brand(this, 'AmbiguousError')
  }

  override readonly name = 'AmbiguousError'
  readonly code = 'ambiguous'

  constructor(operation: string, options?: ErrorOptions, answer: keyof typeof AMBIGUITIES = 'none') {
    super(`${AMBIGUITIES[answer](operation)}: it may have happened`, options)
  }
}

/** The work took longer than its `maxRun`. */
export class MaxRunError extends PeriluneError {
  static {
    brand(this, 'MaxRunError')
  }

  override readonly name = 'MaxRunError'
  readonly code = 'max-run'

  constructor(maxRunMs: number) {
    super(`the attempt took longer than ${maxRunMs} ms`)
  }
}

/** The loader of another process failed. The original error reached that process's own callers only. */
export class LoadFailedError extends PeriluneError {
  static {
    brand(this, 'LoadFailedError')
  }

  override readonly name = 'LoadFailedError'
  readonly code = 'load-failed'
  readonly resource: string

  constructor(resource: string, reason: string) {
    super(`the load of ${resource} failed: ${reason}`)
    this.resource = resource
  }
}

/**
 * The work was done before, but its result could not be stored or cannot be read (`cause` is then what the codec
 * threw). Running the work again would do it twice.
 */
export class ResultNotKeptError extends PeriluneError {
  static {
    brand(this, 'ResultNotKeptError')
  }

  override readonly name = 'ResultNotKeptError'
  readonly code = 'result-not-kept'
  readonly resource: string

  constructor(resource: string, options?: ErrorOptions) {
    const why = options === undefined ? 'could not be kept' : 'cannot be read'
    super(`the work of ${resource} was done before, and its result ${why}`, options)
    this.resource = resource
  }
}

/** The server is too old for the structure, or of a kind that cannot serve it. */
export class UnsupportedServerError extends PeriluneError {
  static {
    brand(this, 'UnsupportedServerError')
  }

  override readonly name = 'UnsupportedServerError'
  readonly code = 'unsupported-server'
}

/** The server or the connection rejected the call: it did not happen. `cause` is the original error. */
export class DriverError extends PeriluneError {
  static {
    brand(this, 'DriverError')
  }

  override readonly name = 'DriverError'
  readonly code: DriverErrorCode

  constructor(code: DriverErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
