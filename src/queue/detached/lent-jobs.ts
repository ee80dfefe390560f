// Jobs for somebody else: this process claims them and hands them on. It neither extends nor watches their leases,
// and keeps nothing of them.

import type { ClaimedJob } from '../claims/claimed-job.ts'
import type { ClaimAnswer } from '../claims/unit-claim.ts'

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

export function toLentJobs({ jobs, leaseMs, endsAtMs }: ClaimAnswer): LentJobs {
  return { jobs: jobs.map(toLentJob), leaseMs, expiresAtMs: endsAtMs }
}

function toLentJob(job: ClaimedJob): LentJob {
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
