import type { ClaimOptions, ExtendOptions } from 'perilune'
import type { Limits } from '../limits.ts'
import { parseObject, wholeNumber } from './body.ts'

/** How long a claim lasts, and how long its messages live beyond it, in seconds. */
export interface ClaimTerms {
  readonly ttl: number
  readonly grace: number
}

export function readClaimTerms(text: string, limits: Limits): ClaimTerms {
  const terms = text.trim() === '' ? {} : parseObject(text)
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
