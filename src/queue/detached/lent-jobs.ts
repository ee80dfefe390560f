// Jobs for somebody else: this process claims them and hands them on. It neither extends nor watches their leases,
// and keeps nothing of them.

import type { Waiting } from '../../runtime/waiting/wait.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { type ClaimTerms, claimFitting, exchangeAndWait } from '../claims/claim.ts'
import { Settler } from '../claims/settler.ts'
import type { Source } from '../source/source.ts'

/** A job that somebody else works on. */
export type LentJob<Payload = unknown> = Pick<
  ClaimedJob<Payload>,
  | 'id'
  | 'token'
  | 'name'
  | 'payload'
  | 'attempt'
  | 'maxAttempts'
  | 'priority'
  | 'group'
  | 'tags'
  | 'trace'
  | 'maxRunMs'
  | 'enqueuedAtMs'
>

export interface LentJobs<Payload = unknown> {
  /** None: there was none in time. */
  readonly jobs: LentJob<Payload>[]
  readonly leaseMs: number
  /** When the leases end, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
}

/** Throws the signal's reason. */
export async function lendJobs<Payload>(
  source: Source,
  terms: ClaimTerms,
  waiting: Waiting,
): Promise<LentJobs<Payload>> {
  const { exchanged, jobs } = await claimFitting<Payload>(source, new Settler(source), waiting, (left) =>
    exchangeAndWait(source, terms, left),
  )
  return { jobs: jobs.map(toLentJob), leaseMs: terms.leaseMs, expiresAtMs: exchanged.endsAtMs }
}

export function toLentJob<Payload>(job: ClaimedJob<Payload>): LentJob<Payload> {
  const { id, token, name, payload, attempt, maxAttempts } = job
  const { priority, group, tags, trace, maxRunMs, enqueuedAtMs } = job
  return {
    id,
    token,
    name,
    payload,
    attempt,
    maxAttempts,
    priority,
    group,
    tags,
    trace,
    maxRunMs,
    enqueuedAtMs,
  }
}
