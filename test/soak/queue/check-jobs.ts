// The outcome of each job, and whether the counts of the queue match.

import type { Job } from 'perilune'
import { isCancelled, mayBeCancelled } from './check-cancelled.ts'
import type { End } from './end.ts'
import { faultOf, type QueueFault } from './fault.ts'
import type { JobStory } from './history.ts'
import { FAILED, type Plan } from './plan.ts'

type Ended = ReadonlyMap<string, Job>

export function checkJobs(stories: readonly JobStory[], end: End, killed: ReadonlySet<string>): QueueFault[] {
  const dead = byRef(end.dead)
  const done = end.done === null ? null : byRef(end.done)
  return [
    ...faultOf(
      'lost',
      stories.flatMap((story) => lost(story, dead, done, killed)),
    ),
    ...faultOf('invented', stories.flatMap(invented)),
    ...faultOf('twice', [
      ...stories.flatMap(enqueuedTwice),
      ...repeated(end.dead),
      ...repeated(end.done ?? []),
    ]),
    ...faultOf(
      'attempts',
      stories.flatMap((story) => diedEarly(story, dead.get(story.ref))),
    ),
    ...faultOf(
      'stale',
      stories.flatMap((story) => doneByAnother(story, dead, done)),
    ),
    ...faultOf('left', end.left),
    ...faultOf('counters', miscounted(stories, end)),
  ]
}

const refOf = ({ payload }: Job): string => (payload as Plan).ref

function byRef(jobs: readonly Job[]): Ended {
  return new Map(jobs.map((job) => [refOf(job), job]))
}

function repeated(jobs: readonly Job[]): string[] {
  const known = new Set<string>()
  const again = jobs.map(refOf).filter((ref) => known.size === known.add(ref).size)
  return again.map((ref) => `two jobs for ${ref}`)
}

/**
 * A job that is not dead is among those that are done. Where none are kept it was acked, or the process that would have
 * got the answer died or was cut off.
 */
function lost(story: JobStory, dead: Ended, done: Ended | null, killed: ReadonlySet<string>): string[] {
  const { ref, enqueuing, attempts, asked } = story
  if (mayBeCancelled(story)) return []
  if (enqueuing !== 'enqueued' || dead.has(ref) || done?.has(ref) === true) return []
  if (asked?.onDependencyFailure === 'cancel' && attempts.length === 0) return []
  const newest = attempts.at(-1)
  const mayBeDone = newest?.ending != null && !newest.ending.throws
  const unheard =
    mayBeDone && (newest.outcome === 'unknown' || (newest.outcome === null && killed.has(newest.began.by)))
  if (done === null && (newest?.outcome === 'acked' || unheard)) return []
  return [`${ref}, enqueued, begun ${attempts.length} times, ${newest?.outcome ?? 'no answer'}`]
}

function invented({ ref, asked, enqueuing, attempts }: JobStory): string[] {
  return attempts.length > 0 && (asked === null || enqueuing === 'refused') ? [ref] : []
}

function enqueuedTwice({ ref, attempts }: JobStory): string[] {
  return new Set(attempts.map(({ began: { id } }) => id)).size > 1 ? [`two jobs for ${ref}`] : []
}

/** A job dies of its last attempt, of a planned failure, or with its dependency. */
function diedEarly({ ref, attempts }: JobStory, job: Job | undefined): string[] {
  if (job === undefined) return []
  const kind = job.failure?.kind
  if (kind === 'dependency-failed')
    return attempts.length === 0 ? [] : [`${ref} began, and died with its dependency`]
  const { poison, fails, ends } = job.payload as Plan
  if (kind === FAILED) return ends === 'fail' && !poison ? [] : [`${ref} was failed`]
  // An attempt whose failure or successor was not acknowledged has failed as well.
  const known = kind === 'lost' || (kind === 'PlannedError' && (fails > 0 || ends !== 'ack'))
  const found = job.attempts !== job.maxAttempts || !known || (poison && kind !== 'lost')
  return found ? [`${ref} died of ${kind} in attempt ${job.attempts} of ${job.maxAttempts}`] : []
}

/** The process that got the ack is the one that did the job. */
function doneByAnother({ ref, attempts }: JobStory, dead: Ended, done: Ended | null): string[] {
  const acked = attempts.find(({ outcome }) => outcome === 'acked')?.began.token
  if (acked === undefined) return []
  if (dead.has(ref)) return [`${ref} is dead, though an attempt was acked`]
  const token = done?.get(ref)?.token
  return token === undefined || token === acked ? [] : [`${ref} was done with ${token}, acked with ${acked}`]
}

/** Of a job; it may also be given back more often than it is counted. */
const MOST_ATTEMPTS = 10

/** The errors of jobs that their own processes fail. */
const BY_SELF: ReadonlySet<string> = new Set(['PlannedError', FAILED])

function miscounted(stories: readonly JobStory[], end: End): string[] {
  const { inspection: counts, dead, done } = end
  const { enqueued, acked, failed, retried, reclaimed, cancelled } = counts
  const numOf = (outcome: string): number =>
    stories.flatMap(({ attempts }) => attempts).filter((attempt) => attempt.outcome === outcome).length
  const known = (kinds: readonly unknown[]): number =>
    stories.filter(({ enqueuing }) => kinds.includes(enqueuing)).length
  const ended = done === null ? null : [...done, ...dead]
  const attempts = ended?.reduce((sum, job) => sum + job.attempts, 0)
  const failedBySelf = dead.filter(({ failure }) => failure !== null && BY_SELF.has(failure.kind)).length
  const kept = done?.length ?? acked
  // The dead and the done may be cancelled as well, and take their attempts with them.
  const most = stories.filter(mayBeCancelled).length
  const isAmong = (count: number, times = 1): boolean => count >= 0 && count <= most * times
  const byDependencies = stories.filter(({ asked }) => asked?.onDependencyFailure === 'cancel').length
  const claims: readonly [string, boolean][] = [
    ['what was enqueued is done, dead or cancelled', enqueued === kept + dead.length + cancelled],
    ['the dead are those that were failed', isAmong(failed - dead.length)],
    [
      'those that are cancelled',
      isAmong(cancelled - stories.filter(isCancelled).length) || byDependencies > 0,
    ],
    [
      'nothing is in between',
      counts.ready + counts.scheduled + counts.blocked + counts.claimed + counts.outbox === 0,
    ],
    ['all that was acknowledged is counted', enqueued >= known(['enqueued'])],
    ['no more than was asked for', enqueued <= known(['enqueued', 'unknown', null])],
    ['acks', acked >= numOf('acked') && isAmong(acked - kept)],
    ['retries', retried >= numOf('retried')],
    [
      'each attempt was acked, retried, failed or taken back',
      attempts === undefined || isAmong(acked + retried + reclaimed + failedBySelf - attempts, MOST_ATTEMPTS),
    ],
  ]
  return claims
    .filter(([, holds]) => !holds)
    .map(([what]) => `${what}: ${JSON.stringify(counts)}, attempts ${attempts}`)
}
