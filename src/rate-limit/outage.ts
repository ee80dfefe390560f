// An outage of the store is not a limit: nobody has taken too much. What then happens is the user's choice.

import { checkOneOf } from '../runtime/values/arguments.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import type { Outage } from './decision.ts'

/** `throw` the error; `fail-open`: allow meanwhile; `fail-closed`: allow nothing meanwhile. */
export type OnOutage = 'throw' | 'fail-open' | 'fail-closed'

const CHOICES = ['throw', 'fail-open', 'fail-closed'] as const

export function checkOnOutage(value: OnOutage): OnOutage {
  return checkOneOf('onOutage', value, CHOICES)
}

/** The decision that stands in for an answer. Throws what is no outage, and everything under `throw`. */
export function decideWithout(error: unknown, onOutage: OnOutage): Outage {
  if (onOutage === 'throw' || !isOutage(error)) throw error
  return { allowed: onOutage === 'fail-open', outage: true, cause: error }
}
