// The goals: our value against that of a peer, when both were measured.

import type { Bench, Goal } from '../harness/bench.ts'
import { PERILUNE } from './contender.ts'

/** How many times the peer's value ours is. */
export function judgeTimes<Result>(
  bench: Bench,
  target: string,
  results: ReadonlyMap<string, Result>,
  peer: string,
  of: (result: Result) => number,
  goal: Goal,
): void {
  const [ours, theirs] = [results.get(PERILUNE), results.get(peer)]
  if (ours === undefined || theirs === undefined) return
  bench.judge(target, { [PERILUNE]: of(ours) / of(theirs) }, goal)
}
