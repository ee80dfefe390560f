// What claims by hand take, of queues in partitions and others.

import { brand } from '../../driver.ts'
import { checkInteger } from '../../runtime/values/arguments.ts'
import type { Duration } from '../../runtime/values/duration.ts'
import { InvalidArgumentError } from '../../runtime/errors/errors.ts'
import { toLeaseMs } from '../../runtime/leases/lease-options.ts'
import type { Waiting } from '../../runtime/waiting/wait.ts'
import { ClaimedJob } from './claimed-job.ts'
import type { ClaimTerms } from './claim.ts'
import type { Source } from '../source/source.ts'

// Jobs that another copy of the library has claimed are acked here as well.
brand(ClaimedJob, 'ClaimedJob')

export interface ClaimOptions extends Waiting {
  /** How many at most; default 1. */
  limit?: number
  /** How long they are claimed; nothing here extends them. Default 30 seconds. */
  lease?: Duration
  /** Jobs that are done: they are acked in the same call. See their `outcome`; null: that one was lost before. */
  acks?: readonly ClaimedJob[]
}

export const LEND_OPTIONS = ['limit', 'lease', 'wait', 'signal'] as const
export const CLAIM_OPTIONS: readonly string[] = [...LEND_OPTIONS, 'acks'] as const

export function toClaimTerms({ limit = 1, lease = '30s' }: ClaimOptions): ClaimTerms {
  return { limit: checkInteger('limit', limit, 1, 200), leaseMs: toLeaseMs(lease) }
}

/** `homes`: the units whose jobs may be among them. Throws InvalidArgumentError. */
export function checkAcks(acks: unknown, homes: readonly Source[]): readonly ClaimedJob[] {
  const isList = Array.isArray(acks) && acks.length <= 200
  if (!isList || !acks.every((job) => job instanceof ClaimedJob)) {
    throw new InvalidArgumentError('acks', 'must be a list of at most 200 claimed jobs')
  }
  const foreign = acks.find((job) => !homes.some(({ unit }) => unit.prefix === job.home))
  if (foreign !== undefined) {
    throw new InvalidArgumentError('acks', `must be jobs of this queue, which '${foreign.id}' is not`)
  }
  return acks
}
