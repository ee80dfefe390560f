// Jobs of one queue that wait for jobs of another one.

import { mayBeCancelled } from './check-cancelled.ts'
import type { End } from './end.ts'
import { faultOf, type QueueFault } from './fault.ts'
import type { JobStory } from './history.ts'
import { nextRefOf, type Plan } from './plan.ts'

type Stories = ReadonlyMap<string, JobStory>

export function checkFamilies(
  dependencies: Stories,
  dependents: Stories,
  ends: readonly End[],
): QueueFault[] {
  const [deadDependencies, deadDependents] = ends.map(
    ({ dead }) => new Map(dead.map((job) => [refOf(job), job])),
  )
  const doneDependents = new Set((ends[1]?.done ?? []).map(refOf))
  const found = [...dependents.values()].flatMap((dependent) => {
    const { ref, asked, attempts } = dependent
    if (asked === null) return []
    const bereft = asked.dependsOn.some((dependency) => deadDependencies?.has(dependency) === true)
    const diedOfIt = deadDependents?.get(ref)?.failure?.kind === 'dependency-failed'
    const isGone = !doneDependents.has(ref) && deadDependents?.has(ref) !== true
    const wrong = [
      ...early(dependent, dependencies),
      ...(diedOfIt && !(bereft && asked.onDependencyFailure === 'fail')
        ? ['died though no dependency had']
        : []),
      ...(bereft && asked.onDependencyFailure === 'fail' && !isGone && !diedOfIt
        ? ['did not die with its dependency']
        : []),
      ...(bereft && asked.onDependencyFailure === 'cancel' && !isGone ? ['was not cancelled'] : []),
      ...(bereft && asked.onDependencyFailure !== 'run' && attempts.length > 0
        ? ['began though its dependency had died']
        : []),
      ...(isGone && dependent.enqueuing === 'enqueued' && !(bereft && asked.onDependencyFailure === 'cancel')
        ? ['is gone']
        : []),
    ]
    return wrong.map((what) => `${ref} of ${asked.dependsOn.join()} (${asked.onDependencyFailure}) ${what}`)
  })
  return faultOf('family', found)
}

/**
 * The successor of a job exists once the job is done, and only then. A done job may be cancelled, and is removed then;
 * a job that was asked to stop does not become done.
 */
export function checkSteps(stories: Stories, [main, after]: readonly End[]): QueueFault[] {
  const advanced = (main?.done ?? []).filter(({ payload }) => (payload as Plan).ends === 'advance')
  const wanted = new Set(advanced.map((job) => nextRefOf(refOf(job))))
  const removed = [...stories.values()].filter(
    (story) => mayBeCancelled(story) && story.cancelled?.outcome !== 'stopping',
  )
  const gone = new Set(removed.map(({ ref }) => nextRefOf(ref)))
  const there = new Set([...(after?.done ?? []), ...(after?.dead ?? [])].map(refOf))
  return faultOf('step', [
    ...[...wanted].filter((ref) => !there.has(ref)).map((ref) => `${ref} is not there`),
    ...[...there]
      .filter((ref) => ref.endsWith(nextRefOf('')) && !wanted.has(ref) && !gone.has(ref))
      .map((ref) => `${ref} is there`),
  ])
}

const refOf = ({ payload }: { payload: unknown }): string => (payload as Plan).ref

/** Before the handler of a dependency that was acked was over; one that died may have done so at any time. */
function early({ asked, attempts: [first] }: JobStory, dependencies: Stories): string[] {
  const before = (asked?.dependsOn ?? []).filter((ref) => {
    const acked = dependencies.get(ref)?.attempts.find(({ outcome }) => outcome === 'acked')
    return first !== undefined && acked?.ending != null && first.at < acked.ending.at
  })
  return before.map((dependency) => `began before ${dependency} was done`)
}
