// The exports of `perilune/rate-limit`.

import * as operations from '../generated/rate-limit.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import type { Allowed, Denied } from './decision.ts'
import { RateLimit, type RateLimitOptions } from './rate-limit.ts'

export * from './names.ts'

/** For `preload` of a connection. */
export const rateLimitScripts: StructureScripts = /* @__PURE__ */ scriptsOf('rate-limit', operations)

/**
 * A rate limiter per subject. Without `onOutage` every decision is made by the store; in an outage calls throw.
 * Throws InvalidArgumentError.
 */
export function rateLimit(
  connection: HasRuntime,
  name: string,
  options: RateLimitOptions & { onOutage?: 'throw' },
): RateLimit<Allowed | Denied>
/**
 * A rate limiter per subject, with `onOutage` for decisions while the store is unavailable. Throws
 * InvalidArgumentError.
 */
export function rateLimit(connection: HasRuntime, name: string, options: RateLimitOptions): RateLimit
export function rateLimit(connection: HasRuntime, name: string, options: RateLimitOptions): RateLimit {
  return new RateLimit(runtimeOf(connection), name, options)
}
