// Classifies errors: the store cannot decide now, or the call can never succeed.

import type { Driver } from '../../driver.ts'
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

/** True when the store could not decide. Any other error is a mistake and must not be hidden. */
export function isOutage(error: unknown): error is DriverError | AmbiguousError {
  return error instanceof AmbiguousError || (error instanceof DriverError && PASSING.has(error.code))
}

const FINAL: ReadonlySet<DriverErrorCode> = new Set<DriverErrorCode>(['closed', 'unknown-layout'])

/** True when the lease that the call was for is over: the call need not be repeated. */
export function isLoss(error: unknown): error is LeaseLostError {
  return error instanceof LeaseLostError
}

/** True when the same call would always fail: this process need not retry it. */
export function isFinal(error: unknown): boolean {
  if (error instanceof InvalidArgumentError || error instanceof UnsupportedServerError) return true
  return error instanceof DriverError && FINAL.has(error.code)
}

/**
 * The call did not happen. `prefix` names the call. The message names the address, because a wrong one is the most
 * common cause.
 */
export function unanswered(prefix: string, driver: Pick<Driver, 'address'>, cause?: unknown): DriverError {
  const where = driver.address ? `; tried ${driver.address}` : ''
  return new DriverError('unreachable', `${prefix}no server answered before the deadline${where}`, { cause })
}

/** True when a call was rejected and did not happen. False when its answer could not be read. */
export function didNotHappen(error: unknown): boolean {
  if (!(error instanceof PeriluneError) || error instanceof AmbiguousError) return false
  return !(error instanceof DriverError && error.code === 'script-failed')
}
