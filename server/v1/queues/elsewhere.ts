// Queues that a request names beside its own. They are of the same tenant, and called as that calls them.

import type { FastifyRequest } from 'fastify'
import type { NextJob, Parent, ParentId } from 'perilune'
import { calledBy, nameOf } from '../place.ts'

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
