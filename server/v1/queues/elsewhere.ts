// Queues that a request names beside its own. They are of the same tenant, and called as that calls them.

import type { FastifyRequest } from 'fastify'
import { InvalidArgumentError, type NextJob, type Dependency, type DependencyId } from 'perilune'
import { calledBy, nameOf } from '../../http/requests/tenant.ts'
import type { KnownQueues } from './known-queues.ts'

/** Each is looked up, and these at once. */
const MOST_QUEUES = 100
/** Of all jobs of a request: each is named, and written down, in one go. */
const MOST_DEPENDENCIES = 10_000

/** A job that has dependencies; without a queue it is of that of the request. */
interface Dependent {
  readonly queue?: string
  readonly dependsOn?: readonly DependencyId[]
}

/** The queues beside `own` that are named. */
function queuesOf(dependencies: readonly DependencyId[], own: string): string[] {
  return dependencies.flatMap((dependency) =>
    typeof dependency === 'string' || dependency.queue === own ? [] : [dependency.queue],
  )
}

/** Throws InvalidArgumentError where there are too many dependencies, or one of their queues cannot be named. `own`: the queue of the request. */
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

/** As `checkDependencies`, for all that is named by what follows jobs of the queue `own`; queues that these go to may begin. */
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

/** The job with its dependencies as the library calls them; `own`: its queue, as the request calls it. */
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
  // One of its own queue has no need of the outbox.
  return queue === own ? id : { queue: nameOf(request, queue, 'dependsOn.queue'), id }
}

/** What follows a job of the queue `own`. */
export function nextFor(request: FastifyRequest, next: NextJob, own: string): NextJob {
  const { queue = own } = next
  return { ...withDependencies(request, next, queue), queue: nameOf(request, queue, 'next.queue') }
}

export function dependencySeen(request: FastifyRequest, dependency: Dependency): Dependency {
  return dependency.queue === null
    ? dependency
    : { ...dependency, queue: calledBy(request, dependency.queue) }
}
