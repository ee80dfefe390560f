// In an outage no limit is exceeded; the option `onOutage` decides.

import { checkOneOf } from '../runtime/values/arguments.ts'
import { isOutage } from '../runtime/errors/outage.ts'
import type { Outage } from './decision.ts'

/** In an outage: `throw` the error; `fail-open`: allow every take; `fail-closed`: deny every take. */
export type OnOutage = 'throw' | 'fail-open' | 'fail-closed'

const CHOICES = ['throw', 'fail-open', 'fail-closed'] as const

export function checkOnOutage(value: OnOutage): OnOutage {
  return checkOneOf('onOutage', value, CHOICES)
}

/** The decision without an answer of the store. Rethrows errors that are no outage, and every error under `throw`. */
export function decideWithout(error: unknown, onOutage: OnOutage): Outage {
  if (onOutage === 'throw' || !isOutage(error)) throw error
  return { allowed: onOutage === 'fail-open', outage: true, cause: error }
}
