import type { Feed } from 'perilune'
import type { Pair, Part, Sides } from './sides.ts'

/** The known state of a feed and its dead letters. */
export interface FeedWorld {
  readonly sides: Sides
  readonly url: string
  readonly feed: Feed<unknown>
  readonly ids: Pair<string>[]
  readonly markers: Pair<string>[]
}

/** The possible steps on a part of it. */
export type FeedSteps = Pick<Part, 'steps' | 'looks'>

/** One of the returned cursors, or the end. */
export function drawMarker({ sides: { dice }, markers }: FeedWorld): Pair<string> {
  if (markers.length === 0 || dice.chance(0.2)) return { here: 'end', there: 'end' }
  return dice.oneOf(markers.slice(-12))
}
