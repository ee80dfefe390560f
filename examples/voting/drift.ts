// Whether rows, counts and what is shown are the same once nothing is under way.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Poll } from './poll.ts'

export interface Sums {
  /** Rows of `votes`. */
  readonly rows: number
  /** What `items` has. */
  readonly counted: number
  /** What Redis shows. */
  readonly shown: number
  /** By how much they are apart, all items together. */
  readonly drift: number
}

const LOOK_EVERY_MS = 50

/** Resolves to false when rows are still waiting then. */
export async function rest(poll: Poll, withinMs: number): Promise<boolean> {
  for (const by = performance.now() + withinMs; performance.now() < by; await sleep(LOOK_EVERY_MS)) {
    await poll.votes.flush()
    const { waiting, noted } = await poll.votes.inspect()
    if (waiting === 0 && noted === 0) return true
  }
  return false
}

export async function compare(poll: Poll): Promise<Sums> {
  const [standings, rows] = await Promise.all([poll.standings(), poll.database.rows('')])
  const sums = { rows: 0, counted: 0, shown: 0, drift: 0 }
  for (const { id, votes, shown } of standings) {
    const own = rows.get(id) ?? 0
    sums.rows += own
    sums.counted += votes
    sums.shown += shown
    sums.drift += Math.abs(votes - own) + Math.abs(shown - own)
  }
  return sums
}
