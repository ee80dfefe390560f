// When the store cannot decide, and when it never will.

import {
  AmbiguousError,
  DriverError,
  type DriverErrorCode,
  InvalidArgumentError,
  LeaseLostError,
  PeriluneError,
  UnsupportedServerError,
} from './errors.ts'

const PASSING: ReadonlySet<DriverErrorCode> = new Set<DriverErrorCode>([
  'unreachable',
  'busy',
  'store-full',
  'store-read-only',
  'overloaded',
])

/** True when the store could not decide; anything else is a mistake that must come to light. */
export function isOutage(error: unknown): error is DriverError | AmbiguousError {
  return error instanceof AmbiguousError || (error instanceof DriverError && PASSING.has(error.code))
}

const FINAL: ReadonlySet<DriverErrorCode> = new Set<DriverErrorCode>(['closed', 'unknown-layout'])

/** True when the lease that something is said of is over: nothing is left to be said. */
export function isLoss(error: unknown): error is LeaseLostError {
  return error instanceof LeaseLostError
}

/** True when the same call would fail for ever: this process need not try it again. */
export function isFinal(error: unknown): boolean {
  if (error instanceof InvalidArgumentError || error instanceof UnsupportedServerError) return true
  return error instanceof DriverError && FINAL.has(error.code)
}

/** True when a call was refused, and did not happen. An answer that nobody could read is none. */
export function didNotHappen(error: unknown): boolean {
  if (!(error instanceof PeriluneError) || error instanceof AmbiguousError) return false
  return !(error instanceof DriverError && error.code === 'script-failed')
}
