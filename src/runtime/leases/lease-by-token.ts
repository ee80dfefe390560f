// Leases by their tokens: another process, or a client of the service, extends and releases them. The process that has
// the lease notices at once if it is this one; others notice at their next renewal.

import { checkToken } from '../values/arguments.ts'
import type { Duration } from '../values/duration.ts'
import { AmbiguousError, LeaseLostError } from '../errors/errors.ts'
import { didNotHappen, isLoss } from '../errors/outage.ts'
import type { LeaseKind } from '../keeper/lease-keeper.ts'
import type { Unit } from '../connection/unit.ts'
import type { LeaseTerms } from './kept-lease.ts'
import { toLeaseMs } from './lease-options.ts'
import type { Trace } from '../calls/runner.ts'

/** The result of an extension. */
export interface Extended {
  readonly leaseMs: number
  /** When the lease ends, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
}

/** Leases on one resource, for callers that know only their tokens. */
export class LeasesByToken {
  readonly #terms: Pick<LeaseTerms, 'kind' | 'unit' | 'release' | 'resource'>

  constructor(terms: Pick<LeaseTerms, 'kind' | 'unit' | 'release' | 'resource'>) {
    this.#terms = terms
  }

  /**
   * Gives the lease back. Throws LeaseLostError when it has ended, AmbiguousError when the first answer was lost and
   * the second does not show the outcome, InvalidArgumentError.
   */
  async release(token: number): Promise<void> {
    const { kind, unit, release, resource } = this.#terms
    const trace: Trace = { repeated: false, atClose: 'gives back' }
    const known = await release(checkToken(token), trace).catch((error: unknown) => {
      noteUnanswered(kind, unit, token, error)
      throw error
    })
    noteEnded(kind, unit, token)
    if (!known) throw notKnown(resource, token, trace)
  }

  /** Makes the lease last `lease` from now on. Throws LeaseLostError when it has ended, InvalidArgumentError. */
  async extend(token: number, lease: Duration): Promise<Extended> {
    return extendByToken(this.#terms, token, lease)
  }
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
  const trace: Trace = {}
  if (unit.runtime.server.info === null) await unit.learnFor(trace)
  const kept = unit.runtime.keeper.find({ kind, ...asked })
  const questions = kept.map((each) => each.ask(leaseMs))
  try {
    const { nowMs, endsAtMs, refused } = await kind.extend([asked], trace)
    const problem = refused?.get(0)
    if (problem !== undefined) throw problem
    const [expiresAtMs = 0] = endsAtMs
    for (const [at, question] of questions.entries()) kept[at]?.noteExtended(question, { nowMs, expiresAtMs })
    if (expiresAtMs === 0) throw new LeaseLostError(resource, token)
    return { leaseMs, expiresAtMs }
  } catch (error) {
    if (!isLoss(error))
      for (const [at, question] of questions.entries()) kept[at]?.noteNotExtended(question, error)
    throw error
  }
}

/** The server does not know a lease with this token. */
export function noteEnded(kind: LeaseKind, { beginning, runtime }: Unit, token: number): void {
  for (const each of runtime.keeper.find({ kind, beginning, token })) each.noteEnded()
}

/** The call that ends this lease has failed: if it may have happened, its holder asks the server. */
export function noteUnanswered(
  kind: LeaseKind,
  { beginning, runtime }: Unit,
  token: number,
  error: unknown,
): void {
  if (didNotHappen(error)) return
  for (const each of runtime.keeper.find({ kind, beginning, token })) each.doubt()
}

/** The server did not know the lease. A repeated call may have ended it the first time. */
export function notKnown(resource: string, token: number, trace: Trace): LeaseLostError | AmbiguousError {
  if (trace.repeated !== true) return new LeaseLostError(resource, token)
  return new AmbiguousError(`the call that ends the lease on ${resource}`, undefined, 'first-lost')
}
