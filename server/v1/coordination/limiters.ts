// The limits of a request. Every request has them, because the service stores none: a body has them as JSON, a query
// has one limit as parameters, or several as JSON text.

import type { FastifyRequest } from 'fastify'
import {
  type Allowed,
  type Denied,
  InvalidArgumentError,
  type Perilune,
  type RateLimit,
  type RateLimitOptions,
} from 'perilune'
import { namedIn } from '../api/routes.ts'

export type SubjectLimiter = RateLimit<Allowed | Denied>

/** The limiter of a request, with its limits. Throws InvalidArgumentError. */
export function openLimiter(perilune: Perilune, request: FastifyRequest, given: object): SubjectLimiter {
  const called = namedIn(request)
  return perilune.rateLimit(called, given as RateLimitOptions & { onOutage?: 'throw' })
}

/**
 * Releases the places of a take whose client has left, because no client has its token. Units stay taken, as after a
 * lost answer.
 */
export async function freePlaces(
  limiter: SubjectLimiter,
  subject: string,
  { token, limits }: Allowed,
): Promise<void> {
  const hasPlaces = Object.values(limits).some(({ algorithm }) => algorithm === 'concurrency')
  if (hasPlaces) await limiter.release(subject, token)
}

/** The limits in a query. Throws InvalidArgumentError. */
export function limitsIn({ limits: several, ...one }: { limits?: string }): object {
  if (several === undefined) return one
  const [extra] = Object.keys(one)
  if (extra !== undefined) throw new InvalidArgumentError(extra, 'requires `limits` to be left out')
  try {
    return { limits: JSON.parse(several) as unknown }
  } catch {
    throw new InvalidArgumentError('limits', 'must be JSON')
  }
}
