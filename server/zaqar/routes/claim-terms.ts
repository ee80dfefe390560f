import type { ClaimOptions, ExtendOptions } from 'perilune'
import type { Limits } from '../settings/limits.ts'
import { type JsonObject, parseObject, wholeNumber } from '../requests/body.ts'

/** How long a claim lasts, and how long its messages live beyond it, in seconds. */
export interface ClaimTerms {
  readonly ttl: number
  readonly grace: number
}

/** Of a new claim: OpenStack's own client sends null for what it was not told. */
export function readNewClaimTerms(text: string, limits: Limits): ClaimTerms {
  const given = Object.entries(readTerms(text)).filter(([, value]) => value !== null)
  return checkTerms(Object.fromEntries(given), limits)
}

export function readClaimTerms(text: string, limits: Limits): ClaimTerms {
  return checkTerms(readTerms(text), limits)
}

function readTerms(text: string): JsonObject {
  return text === '' ? {} : parseObject(text)
}

function checkTerms(terms: JsonObject, limits: Limits): ClaimTerms {
  const { defaultClaimTtl, minClaimTtl, maxClaimTtl, defaultClaimGrace, minClaimGrace, maxClaimGrace } =
    limits
  return {
    ttl: wholeNumber(terms, 'ttl', defaultClaimTtl, [minClaimTtl, maxClaimTtl]),
    grace: wholeNumber(terms, 'grace', defaultClaimGrace, [minClaimGrace, maxClaimGrace]),
  }
}

export function toLease({ ttl, grace }: ClaimTerms): Required<Pick<ClaimOptions, 'lease'> & ExtendOptions> {
  return { lease: `${ttl}s`, grace: `${grace}s` }
}
