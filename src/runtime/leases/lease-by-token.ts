// Extending and giving back for whoever knows only the token: another process, or the client of a service.

import { checkToken } from '../values/arguments.ts'
import type { Duration } from '../values/duration.ts'
import { AmbiguousError, LeaseLostError } from '../errors/errors.ts'
import type { LeaseTerms } from './kept-lease.ts'
import { toLeaseMs } from './lease-options.ts'
import type { Trace } from '../calls/runner.ts'

/** What became of an extension. */
export interface Extended {
  readonly leaseMs: number
  /** When the lease ends, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
}

/** Throws LeaseLostError when the lease has ended, InvalidArgumentError. */
export async function extendByToken(
  { kind, unit, resource }: Pick<LeaseTerms, 'kind' | 'unit' | 'resource'>,
  token: number,
  lease: Duration,
): Promise<Extended> {
  const { beginning } = unit
  const leaseMs = toLeaseMs(lease)
  const asked = { beginning, token: checkToken(token), leaseMs }
  if (unit.runtime.server.info === null) await unit.learn()
  const { endsAtMs, refused } = await kind.extend([asked])
  const problem = refused?.get(0)
  if (problem !== undefined) throw problem
  const [expiresAtMs = 0] = endsAtMs
  if (expiresAtMs === 0) throw new LeaseLostError(resource, token)
  return { leaseMs, expiresAtMs }
}

/** Throws LeaseLostError when the lease has ended, AmbiguousError when it may be this that ended it, InvalidArgumentError. */
export async function releaseByToken(
  { release, resource }: Pick<LeaseTerms, 'release' | 'resource'>,
  token: number,
): Promise<void> {
  const trace: Trace = { repeated: false, atClose: 'gives back' }
  const known = await release(checkToken(token), trace)
  if (!known) throw notKnown(resource, token, trace)
}

/** The server did not know the lease. What was sent twice may have ended it the first time. */
export function notKnown(resource: string, token: number, trace: Trace): LeaseLostError | AmbiguousError {
  if (trace.repeated !== true) return new LeaseLostError(resource, token)
  return new AmbiguousError(`the call that ends the lease on ${resource}`, undefined, 'first-lost')
}
