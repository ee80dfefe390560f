// When jobs begin: not before they are due, and where nothing goes wrong in their order.

import { faultOf, type QueueFault } from './fault.ts'
import type { JobStory } from './history.ts'

export function checkOrder(stories: readonly JobStory[], isOrdered: boolean): QueueFault[] {
  return [
    ...faultOf('early', stories.flatMap(early)),
    ...faultOf('order', isOrdered ? overtaken(stories.flatMap(toPlace)) : []),
  ]
}

/** It was enqueued after it was requested, and is due so long after that. `lost` checks that it begins at all. */
function early({ ref, asked, attempts: [first] }: JobStory): string[] {
  if (asked === null || first === undefined) return []
  const earlyMs = asked.atMs + (asked.delayMs ?? 0) - first.began.atMs
  return earlyMs > 0 ? [`${ref} began ${earlyMs} ms before it was due`] : []
}

interface Place {
  readonly ref: string
  readonly priority: number
  readonly askedAt: number
  readonly enqueuedAt: number
  /** Of its first attempt: they rise from claim to claim. */
  readonly token: number
}

/** Jobs that are not delayed, have no dependencies, and have no group that waits for its turn. */
function toPlace({ ref, asked, askedAt, enqueuedAt, attempts: [first] }: JobStory): Place[] {
  if (asked === null || askedAt === null || enqueuedAt === null || first === undefined) return []
  const { delayMs = 0, priority = 0, dependsOn } = asked
  const { attempt, group, token } = first.began
  if (delayMs > 0 || dependsOn.length > 0 || attempt > 1 || group !== '') return []
  return [{ ref, priority, askedAt, enqueuedAt, token }]
}

/** A job whose enqueue ended before another one began is ahead of it, unless the other has a higher priority. */
function overtaken(places: readonly Place[]): string[] {
  const byToken = places.toSorted((one, other) => one.token - other.token)
  return byToken.flatMap((first, at) => {
    const late = byToken
      .slice(at + 1)
      .find((other) => other.enqueuedAt < first.askedAt && other.priority >= first.priority)
    return late === undefined ? [] : [`${first.ref} began before ${late.ref}`]
  })
}
