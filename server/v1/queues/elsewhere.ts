// Queues that a request names beside its own. They are of the same tenant, and called as that calls them.

import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError, type NextJob, type Parent, type ParentId } from 'perilune'
import { calledBy, nameOf } from '../../http/requests/tenant.ts'
import type { KnownQueues } from './known-queues.ts'

/** Each is looked up, and these at once. */
const MOST_QUEUES = 100
/** Of all jobs of a request: each is named, and written down, in one go. */
const MOST_PARENTS = 10_000

/** A job that has parents; without a queue it is of that of the request. */
interface Child {
  readonly queue?: string
  readonly parents?: readonly ParentId[]
}

/** The queues beside `own` that are named. */
function queuesOf(parents: readonly ParentId[], own: string): string[] {
  return parents.flatMap((parent) =>
    typeof parent === 'string' || parent.queue === own ? [] : [parent.queue],
  )
}

/** Throws InvalidArgumentError where there are too many parents, or one of their queues cannot be named. `own`: the queue of the request. */
export async function checkParents(
  known: KnownQueues,
  request: FastifyRequest,
  jobs: readonly Child[],
  own: string,
): Promise<void> {
  if (jobs.reduce((sum, { parents = [] }) => sum + parents.length, 0) > MOST_PARENTS) {
    throw new InvalidArgumentError('parents', `must be at most ${MOST_PARENTS} in one request`)
  }
  const named = fewOf(
    jobs.flatMap(({ queue = own, parents = [] }) => queuesOf(parents, queue)),
    'parents.queue',
  )
  await Promise.all(named.map((queue) => known.checkOther(request, queue, 'parents.queue')))
}

function fewOf(queues: readonly string[], argument: string): string[] {
  const named = [...new Set(queues)]
  if (named.length <= MOST_QUEUES) return named
  throw new InvalidArgumentError(argument, `must be of at most ${MOST_QUEUES} other queues in one request`)
}

/** As `checkParents`, for all that is named by what follows jobs of the queue `own`; queues that these go to may begin. */
export async function beginAll(
  known: KnownQueues,
  request: FastifyRequest,
  steps: readonly NextJob[],
  own: string,
): Promise<void> {
  const targets = fewOf(
    steps.flatMap(({ queue = own }) => (queue === own ? [] : [queue])),
    'next.queue',
  )
  await checkParents(known, request, steps, own)
  await Promise.all(targets.map((queue) => known.beginOther(request, queue, 'next.queue')))
}

/** The job with its parents as the library calls them; `own`: its queue, as the request calls it. */
export function withParents<Job extends { parents?: readonly ParentId[] }>(
  request: FastifyRequest,
  job: Job,
  own: string,
): Job {
  if (job.parents === undefined) return job
  return { ...job, parents: job.parents.map((parent) => parentFor(request, parent, own)) }
}

export function parentFor(request: FastifyRequest, parent: ParentId, own: string): ParentId {
  if (typeof parent === 'string') return parent
  const { queue, id } = parent
  // One of its own queue has no need of the outbox.
  return queue === own ? id : { queue: nameOf(request, queue, 'parents.queue'), id }
}

/** What follows a job of the queue `own`. */
export function nextFor(request: FastifyRequest, next: NextJob, own: string): NextJob {
  const { queue = own } = next
  return { ...withParents(request, next, queue), queue: nameOf(request, queue, 'next.queue') }
}

export function parentSeen(request: FastifyRequest, parent: Parent): Parent {
  return parent.queue === null ? parent : { ...parent, queue: calledBy(request, parent.queue) }
}
