// Invariants of each attempt at a job, under any faults.

import { faultOf, type QueueFault } from './fault.ts'
import type { Attempt, JobStory, QueueHistory } from './history.ts'

export function checkAttempts(
  stories: readonly JobStory[],
  killed: QueueHistory['killed'],
  limits: QueueHistory['limits'],
): QueueFault[] {
  return [
    ...faultOf('token', [...unfallen(stories), ...repeated(stories)]),
    ...faultOf('attempts', stories.flatMap(miscounted)),
    ...faultOf('twice', stories.flatMap(ackedTwice)),
    ...faultOf('stale', stories.flatMap(stale)),
    ...faultOf('overlap', stories.flatMap(overlapping)),
    ...faultOf(
      'untold',
      stories.flatMap((story) => untold(story, killed)),
    ),
    ...faultOf('limit', limits === null ? [] : overLimit(stories, limits)),
  ]
}

/** Attempts at a job, each with the one before it. */
function pairsOf({ attempts }: JobStory): [Attempt, Attempt][] {
  return attempts.slice(1).map((later, at) => [attempts[at] as Attempt, later])
}

function tell({ began: { ref, attempt, token, by } }: Attempt): string {
  return `attempt ${attempt} of ${ref} by ${by} with token ${token}`
}

/** Attempts are listed in the order of their tokens: that must be the order in which they were counted. */
function unfallen(stories: readonly JobStory[]): string[] {
  return stories.flatMap((story) =>
    pairsOf(story)
      .filter(([one, other]) => one.began.attempt >= other.began.attempt)
      .map(([one, other]) => `${tell(other)} after ${tell(one)}`),
  )
}

function repeated(stories: readonly JobStory[]): string[] {
  const known = new Set<number>()
  return stories
    .flatMap(({ attempts }) => attempts)
    .filter(({ began: { token } }) => known.size === known.add(token).size)
    .map((attempt) => `${tell(attempt)}, which another one has`)
}

function miscounted({ attempts }: JobStory): string[] {
  const counts = attempts.map(({ began }) => began.attempt)
  return attempts
    .filter(({ began }, at) => counts.indexOf(began.attempt) !== at || began.attempt > began.maxAttempts)
    .map(tell)
}

function ackedTwice({ attempts }: JobStory): string[] {
  const acked = attempts.filter(({ outcome }) => outcome === 'acked')
  return acked.slice(1).map(tell)
}

/**
 * An attempt that is followed by another one was not acked. When the other one began before this one reported its
 * outcome, this one must not settle the job.
 */
function stale({ attempts }: JobStory): string[] {
  return attempts
    .filter(({ outcome, ending, began }) => {
      const later = attempts.filter((other) => other.began.token > began.token)
      if (outcome === 'acked' || outcome === 'dead') return later.length > 0
      const refusing = later.some(({ at }) => ending !== null && at < ending.at)
      return refusing && (outcome === 'retried' || outcome === 'released')
    })
    .map(tell)
}

function overlapping(story: JobStory): string[] {
  return pairsOf(story)
    .filter(([one, other]) => isLive(one, other))
    .map(([one, other]) => `${tell(other)} beside ${tell(one)}`)
}

/** For certain, when another one began: it had not ended, and its lease was not over by the server's clock. */
function isLive({ ending, began, at }: Attempt, other: Attempt): boolean {
  if (at > other.at || (ending !== null && ending.at < other.at)) return false
  return other.began.atMs < began.endsAtMs
}

function untold({ attempts }: JobStory, killed: ReadonlySet<string>): string[] {
  return attempts.filter(({ outcome, began }) => outcome === null && !killed.has(began.by)).map(tell)
}

function overLimit(stories: readonly JobStory[], limits: { queue: number; group: number }): string[] {
  const all = stories.flatMap(({ attempts }) => attempts).toSorted((one, other) => one.at - other.at)
  let live: Attempt[] = []
  return all.flatMap((next) => {
    live = live.filter((attempt) => isLive(attempt, next))
    // One that paused before it could write may have lost its lease by then.
    if (next.began.atMs >= next.began.endsAtMs) return []
    live.push(next)
    const inGroup = live.filter(({ began }) => began.group === next.began.group).length
    const found = live.length > limits.queue || (next.began.group !== '' && inGroup > limits.group)
    return found
      ? [`${live.length} at once, of group '${next.began.group}' ${inGroup}, with ${tell(next)}`]
      : []
  })
}
