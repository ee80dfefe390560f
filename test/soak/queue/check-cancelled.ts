// Jobs that were cancelled: permanently removed, and none of their attempts is valid any more.

import type { End } from './end.ts'
import { faultOf, type QueueFault } from './fault.ts'
import type { JobStory } from './history.ts'
import type { Plan } from './plan.ts'

export function checkCancelled(stories: readonly JobStory[], { dead, done }: End): QueueFault[] {
  const there = new Set([...dead, ...(done ?? [])].map(({ payload }) => (payload as Plan).ref))
  return faultOf(
    'cancelled',
    stories.flatMap((story) => wrongWith(story, there).map((what) => `${story.ref} ${what}`)),
  )
}

/** It may have been removed, as far as is known. */
export function mayBeCancelled({ cancelled }: JobStory): boolean {
  return cancelled !== null
}

/** A caller got the answer that it is cancelled, or will be. */
export function isCancelled({ cancelled }: JobStory): boolean {
  return cancelled?.outcome === 'cancelled' || cancelled?.outcome === 'stopping'
}

function wrongWith(story: JobStory, there: ReadonlySet<string>): string[] {
  const { cancelled, attempts, ref } = story
  if (cancelled === null || !isCancelled(story)) return []
  const { at, outcome } = cancelled
  // A process that paused before it could write has lost its lease by then.
  const begun = attempts.filter(({ began }) => began.atMs < began.endsAtMs)
  const late = begun.filter((attempt) => attempt.at > at).length
  const counted = attempts.filter((attempt) => attempt.outcome === 'acked' || attempt.outcome === 'dead')
  return [
    ...(there.has(ref) ? ['is still there'] : []),
    // One that is stopping is at work, perhaps before that could be written.
    ...(late > (outcome === 'stopping' ? 1 : 0) ? ['began once it was cancelled'] : []),
    ...(counted.some(({ ending }) => outcome === 'stopping' || (ending?.at ?? 0) > at)
      ? ['was done once it was cancelled']
      : []),
  ]
}
