// An outage of the store is not a limit: nobody has taken too much. What then happens is the user's choice.

import { AmbiguousError, DriverError, type DriverErrorCode, InvalidArgumentError } from '../runtime/errors.ts'
import type { Outage } from './decision.ts'

/** `throw` the error; `failOpen`: allow meanwhile; `failClosed`: allow nothing meanwhile. */
export type OnOutage = 'throw' | 'failOpen' | 'failClosed'

const CHOICES = ['throw', 'failOpen', 'failClosed']
const OUTAGES: ReadonlySet<DriverErrorCode> = new Set([
  'unreachable',
  'busy',
  'store-full',
  'store-read-only',
  'overloaded',
])

export function checkOnOutage(value: OnOutage): OnOutage {
  if (CHOICES.includes(value)) return value
  throw new InvalidArgumentError('onOutage', `must be one of ${CHOICES.join(', ')}`)
}

/** The decision that stands in for an answer. Throws what is no outage, and everything under `throw`. */
export function decideWithout(error: unknown, onOutage: OnOutage): Outage {
  if (onOutage === 'throw' || !isOutage(error)) throw error
  return { allowed: onOutage === 'failOpen', outage: true, cause: error }
}

function isOutage(error: unknown): error is DriverError | AmbiguousError {
  return error instanceof AmbiguousError || (error instanceof DriverError && OUTAGES.has(error.code))
}
