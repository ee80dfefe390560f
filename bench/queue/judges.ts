// The goals: our value against that of a peer, when both were measured.

import type { Bench, Goal } from '../harness/bench.ts'
import { bullmq } from './bullmq.ts'
import { bullmqHeard } from './bullmq-heard.ts'
import { PERILUNE } from './contender.ts'
import { periluneHeard } from './perilune-heard.ts'

/** How many times the peer's value ours is. */
export function judgeTimes<Result>(
  bench: Bench,
  target: string,
  results: ReadonlyMap<string, Result>,
  peer: string,
  of: (result: Result) => number,
  goal: Goal,
  own: string = PERILUNE,
): void {
  const [ours, theirs] = [results.get(own), results.get(peer)]
  if (ours === undefined || theirs === undefined) return
  bench.judge(target, { [own]: of(ours) / of(theirs) }, goal)
}

/** As `judgeTimes`, against BullMQ: without listeners, and with a listener to all events of both. */
export function judgeHeardOrNot<Result>(
  bench: Bench,
  target: string,
  results: ReadonlyMap<string, Result>,
  of: (result: Result) => number,
  goal: Goal,
): void {
  judgeTimes(bench, target, results, bullmq.name, of, goal)
  judgeTimes(bench, `${target}, events heard`, results, bullmqHeard.name, of, goal, periluneHeard.name)
}
