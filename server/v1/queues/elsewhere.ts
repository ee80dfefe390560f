// Other queues that a request names. They belong to the same tenant, and have the tenant's names.

import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError, type NextJob, type Dependency, type DependencyId } from 'perilune'
import { calledBy, nameOf } from '../../http/requests/tenant.ts'
import type { KnownQueues } from './known-queues.ts'

/** Each needs a lookup, all of them at once. */
const MOST_QUEUES = 100
/** For all jobs of a request: each is checked and encoded in one step. */
const MOST_DEPENDENCIES = 10_000

/** A job with dependencies; those without a queue are in the queue of the request. */
interface Dependent {
  readonly queue?: string
  readonly dependsOn?: readonly DependencyId[]
}

/** The named queues other than `own`. */
function queuesOf(dependencies: readonly DependencyId[], own: string): string[] {
  return dependencies.flatMap((dependency) =>
    typeof dependency === 'string' || dependency.queue === own ? [] : [dependency.queue],
  )
}

/**
 * Throws InvalidArgumentError if there are too many dependencies, or one of their queues cannot be named. `own`: the
 * queue of the request.
 */
export async function checkDependencies(
  known: KnownQueues,
  request: FastifyRequest,
  jobs: readonly Dependent[],
  own: string,
): Promise<void> {
  if (
    jobs.reduce((sum, { dependsOn: dependencies = [] }) => sum + dependencies.length, 0) > MOST_DEPENDENCIES
  ) {
    throw new InvalidArgumentError('dependsOn', `must be at most ${MOST_DEPENDENCIES} in one request`)
  }
  const named = fewOf(
    jobs.flatMap(({ queue = own, dependsOn: dependencies = [] }) => queuesOf(dependencies, queue)),
    'dependsOn.queue',
  )
  await Promise.all(named.map((queue) => known.checkOther(request, queue, 'dependsOn.queue')))
}

function fewOf(queues: readonly string[], argument: string): string[] {
  const named = [...new Set(queues)]
  if (named.length <= MOST_QUEUES) return named
  throw new InvalidArgumentError(argument, `must be of at most ${MOST_QUEUES} other queues in one request`)
}

/** Like `checkDependencies`, for the next jobs of jobs in the queue `own`; also begins the queues of the next jobs. */
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
  await checkDependencies(known, request, steps, own)
  await Promise.all(targets.map((queue) => known.beginOther(request, queue, 'next.queue')))
}

/** The job with the library's names for its dependencies; `own`: its queue, with the name of the request. */
export function withDependencies<Job extends { dependsOn?: readonly DependencyId[] }>(
  request: FastifyRequest,
  job: Job,
  own: string,
): Job {
  if (job.dependsOn === undefined) return job
  return { ...job, dependsOn: job.dependsOn.map((dependency) => dependencyFor(request, dependency, own)) }
}

export function dependencyFor(request: FastifyRequest, dependency: DependencyId, own: string): DependencyId {
  if (typeof dependency === 'string') return dependency
  const { queue, id } = dependency
  // A dependency in its own queue does not need the outbox.
  return queue === own ? id : { queue: nameOf(request, queue, 'dependsOn.queue'), id }
}

/** The next job of a job in the queue `own`. */
export function nextFor(request: FastifyRequest, next: NextJob, own: string): NextJob {
  const { queue = own } = next
  return { ...withDependencies(request, next, queue), queue: nameOf(request, queue, 'next.queue') }
}

export function dependencySeen(request: FastifyRequest, dependency: Dependency): Dependency {
  return dependency.queue === null
    ? dependency
    : { ...dependency, queue: calledBy(request, dependency.queue) }
}
