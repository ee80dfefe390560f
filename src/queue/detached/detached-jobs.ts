// Detached jobs: this process claims them and passes them on to another one. It neither extends nor watches their
// leases, and keeps no state of them.

import { get } from '../../generated/queue.ts'
import type { ClaimedJob } from '../claims/claimed-job.ts'
import { Settler } from '../claims/settler.ts'
import type { ClaimAnswer } from '../claims/claim.ts'
import type { Leased } from '../jobs/attempt.ts'
import { placeId } from '../partitions/partitions.ts'
import type { QueueSource } from '../source/source.ts'

/** A claimed job for another process to work on. */
export type DetachedJob<Payload = unknown> = Pick<
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

export interface DetachedJobs<Payload = unknown> {
  /** Empty when there was no job in time. */
  readonly jobs: DetachedJob<Payload>[]
  readonly leaseMs: number
  /** When the first of the leases ends, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
}

export function toDetachedJobs({ jobs, leaseMs, endsAtMs }: ClaimAnswer): DetachedJobs {
  return { jobs: jobs.map(toDetachedJob), leaseMs, expiresAtMs: endsAtMs }
}

function toDetachedJob(job: ClaimedJob): DetachedJob {
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

// Finds leases by the ids and tokens of jobs.

/** One attempt at a job, from the answer of a claim. */
export interface JobLease {
  /** The job's own id, or the one that the queue assigned. */
  id: string
  token: number
}

/** A lease in the form of the scripts, and the settler of its partition. */
export interface Held {
  readonly leased: Leased
  readonly settler: Settler
}

/** Null for a job that is not known. `asNamed`: the operation accepts a job's own id instead of its number. */
export type FindLeases = (jobs: readonly JobLease[], asNamed: boolean) => Promise<(Held | null)[]>

interface Found {
  readonly number: string
  readonly token: number
}

const GIVEN_BY_QUEUE = /^\d+$/

/**
 * Ids that the queue assigned contain the number and the partition; jobs' own ids are looked up in all partitions.
 * `check` verifies the number of partitions. Throws InvalidArgumentError.
 */
export function findLeases(sources: readonly QueueSource[], check: () => Promise<void>): FindLeases {
  const settlers = sources.map((source) => new Settler(source))
  const isSpread = sources[0]?.partition !== null
  return async (jobs, asNamed) => {
    const places = jobs.map(({ id }) => {
      if (isSpread) return placeId(id, sources.length, 'id')
      return asNamed || GIVEN_BY_QUEUE.test(id) ? { partition: 0, number: id } : null
    })
    const own = jobs.filter((_, at) => places[at] === null).map(({ id }) => id)
    const found = await Promise.all(sources.map((source) => findOwn(source, own)))
    if (own.some((id) => !found.some((each) => each.has(id)))) await check()
    return jobs.map(({ id, token }, at) => {
      const { partition, number } = places[at] ?? whereIs(found, id, token)
      const settler = settlers[partition]
      return settler === undefined ? null : { leased: { number, token }, settler }
    })
  }
}

/** Among several jobs with the same id, prefers the one with this token. */
function whereIs(
  found: readonly ReadonlyMap<string, Found>[],
  id: string,
  token: number,
): { partition: number; number: string } {
  const held = found.findIndex((each) => each.get(id)?.token === token)
  const partition = held >= 0 ? held : found.findIndex((each) => each.has(id))
  return { partition, number: found[partition]?.get(id)?.number ?? '' }
}

async function findOwn(
  { unit, codec }: QueueSource,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, Found>> {
  if (wanted.length === 0) return new Map()
  const { jobs } = await unit.run(get, { codec: codec.name, wanted })
  return new Map(jobs.map(({ id, number, token }) => [id, { number: String(number), token }]))
}
