// The limits of a request. They stand in every request, for the service stores none: a body has them as JSON, a
// query has one limit as parameters, or several as JSON text.

import type { FastifyRequest } from 'fastify'
import {
  type Allowed,
  type Denied,
  InvalidArgumentError,
  type Perilune,
  type RateLimit,
  type RateLimitOptions,
} from 'perilune'
import { nameOf } from '../place.ts'

export type Limiter = RateLimit<Allowed | Denied>

/** The limiter that a request names, with its limits. Throws InvalidArgumentError. */
export function openLimiter(perilune: Perilune, request: FastifyRequest, given: object): Limiter {
  const called = nameOf(request, (request.params as { name: string }).name)
  return perilune.rateLimit(called, given as RateLimitOptions & { onOutage?: 'throw' })
}

/** The limits in a query. Throws InvalidArgumentError. */
export function limitsIn({ limits: several, ...one }: { limits?: string }): object {
  if (several === undefined) return one
  const [extra] = Object.keys(one)
  if (extra !== undefined) throw new InvalidArgumentError(extra, 'goes without `limits`')
  try {
    return { limits: JSON.parse(several) as unknown }
  } catch {
    throw new InvalidArgumentError('limits', 'must be JSON')
  }
}
