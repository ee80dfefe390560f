// Jobs of one queue that wait for jobs of another one.

import { mayBeCancelled } from './check-cancelled.ts'
import type { End } from './end.ts'
import { faultOf, type QueueFault } from './fault.ts'
import type { JobStory } from './history.ts'
import { nextRefOf, type Plan } from './plan.ts'

type Stories = ReadonlyMap<string, JobStory>

export function checkFamilies(parents: Stories, children: Stories, ends: readonly End[]): QueueFault[] {
  const [deadParents, deadChildren] = ends.map(({ dead }) => new Map(dead.map((job) => [refOf(job), job])))
  const doneChildren = new Set((ends[1]?.done ?? []).map(refOf))
  const found = [...children.values()].flatMap((child) => {
    const { ref, asked, attempts } = child
    if (asked === null) return []
    const bereft = asked.parents.some((parent) => deadParents?.has(parent) === true)
    const diedOfIt = deadChildren?.get(ref)?.failure?.kind === 'parent-failed'
    const isGone = !doneChildren.has(ref) && deadChildren?.has(ref) !== true
    const wrong = [
      ...early(child, parents),
      ...(diedOfIt && !(bereft && asked.ifParentFails === 'bury') ? ['died though no parent had'] : []),
      ...(bereft && asked.ifParentFails === 'bury' && !isGone && !diedOfIt
        ? ['did not die with its parent']
        : []),
      ...(bereft && asked.ifParentFails === 'cancel' && !isGone ? ['was not cancelled'] : []),
      ...(bereft && asked.ifParentFails !== 'run' && attempts.length > 0
        ? ['began though its parent had died']
        : []),
      ...(isGone && child.enqueuing === 'enqueued' && !(bereft && asked.ifParentFails === 'cancel')
        ? ['is gone']
        : []),
    ]
    return wrong.map((what) => `${ref} of ${asked.parents.join()} (${asked.ifParentFails}) ${what}`)
  })
  return faultOf('family', found)
}

/**
 * What follows a job is there once the job is done, and only then. One that is done may be cancelled, and is gone then; one that
 * was told to stop is not done any more.
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

/** Before the handler of a parent that was acked was over; one that died may have done so at any time. */
function early({ asked, attempts: [first] }: JobStory, parents: Stories): string[] {
  const before = (asked?.parents ?? []).filter((ref) => {
    const acked = parents.get(ref)?.attempts.find(({ outcome }) => outcome === 'acked')
    return first !== undefined && acked?.ending != null && first.at < acked.ending.at
  })
  return before.map((parent) => `began before ${parent} was done`)
}
