// The settings of /v2 in the environment.

import { type Limits, readLimits } from './limits.ts'
import { type Environment, StartError } from '../../process/environment.ts'
import { type AddressRange, readRanges } from '../addresses/guard.ts'

export interface ZaqarSettings {
  readonly limits: Limits
  /** Signs URLs; null: none was given. */
  readonly signingSecret: string | null
  /** The URL of this service for subscribers; null: the address on which it listens. */
  readonly publicUrl: string | null
  /** Addresses that webhooks may reach although they are not public. */
  readonly webhookAllow: readonly AddressRange[]
}

/** `otherwise`: limits that the environment does not set. Throws StartError. */
export function readZaqarSettings(environment: Environment, otherwise?: Limits): ZaqarSettings {
  return {
    limits: readLimits(environment, otherwise),
    signingSecret: environment['PERILUNE_SIGNING_SECRET'] || null,
    publicUrl: readPublicUrl(environment['PERILUNE_PUBLIC_URL'] ?? ''),
    webhookAllow: readAllowed(environment['PERILUNE_WEBHOOK_ALLOW'] ?? ''),
  }
}

function readPublicUrl(text: string): string | null {
  if (text === '') return null
  if (!/^https?:\/\/[^/?#\s]+(?:\/[^?#\s]*)?$/.test(text) || !URL.canParse(text)) {
    throw new StartError(`PERILUNE_PUBLIC_URL must be an http or https URL without a query, not '${text}'`)
  }
  return text.replace(/\/+$/, '')
}

function readAllowed(text: string): readonly AddressRange[] {
  const ranges = readRanges(text)
  if (ranges === null) {
    throw new StartError(
      `PERILUNE_WEBHOOK_ALLOW must be addresses or ranges such as 10.0.0.0/8, with commas between, not '${text}'`,
    )
  }
  return ranges
}
