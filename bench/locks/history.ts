// Statistics of a history of waits: how many, how evenly, how long, how many at once.

import { largest } from '../harness/statistics.ts'
import type { Crowd, Wait } from './crowd.ts'

export interface History {
  readonly acquisitions: number
  readonly perSecond: number
  /** From the beginning of a release to the next one who knows that it holds. */
  readonly handOffsMs: readonly number[]
  /** Of those who waited longest; who still waits at the end has waited to the end. */
  readonly maxWaitMs: number
  /** Acquisitions of others meanwhile. */
  readonly maxWaitCycles: number
  /** 1: all got the same; 1/n: one of n got all. */
  readonly jain: number
  /** Waiters that got nothing. */
  readonly starved: number
  /** The most that held at the same time. */
  readonly mostAtOnce: number
  /** Acquisitions while `limit` others held. */
  readonly overLimit: number
}

/** `waiters` are numbered from 0; `limit` may hold at once. */
export function toHistory({ waits, fromMs, untilMs }: Crowd, waiters: number, limit: number): History {
  const granted = waits.filter(({ grantedAtMs }) => grantedAtMs >= fromMs && grantedAtMs <= untilMs)
  const byGrant = granted.toSorted((a, b) => a.grantedAtMs - b.grantedAtMs)
  const counts = countsOf(granted, waiters)
  return {
    acquisitions: granted.length,
    perSecond: (granted.length * 1000) / (untilMs - fromMs),
    handOffsMs: handOffs(byGrant),
    maxWaitMs: largest(waits.map((wait) => Math.min(wait.grantedAtMs, untilMs) - wait.askedAtMs)),
    maxWaitCycles: largestCycles(waits, byGrant),
    jain: jain(counts),
    starved: counts.filter((count) => count === 0).length,
    ...holders(byGrant, limit),
  }
}

/** Jain's index of fairness: (Σx)² / (n Σx²); R. Jain, D. Chiu, W. Hawe, DEC-TR-301, 1984. NaN when all is zero. */
export function jain(values: readonly number[]): number {
  const sum = values.reduce((all, value) => all + value, 0)
  const squares = values.reduce((all, value) => all + value * value, 0)
  return (sum * sum) / (values.length * squares)
}

function countsOf(granted: readonly Wait[], waiters: number): number[] {
  const counts = Array.from({ length: waiters }, () => 0)
  for (const { waiter } of granted) counts[waiter] = (counts[waiter] ?? 0) + 1
  return counts
}

/** One who asked only after the release was not handed anything. */
function handOffs(byGrant: readonly Wait[]): number[] {
  return byGrant.flatMap((wait, at) => {
    const last = byGrant[at - 1]
    const waited = last !== undefined && wait.askedAtMs < last.releasedAtMs
    return waited && wait.grantedAtMs > last.releasedAtMs ? [wait.grantedAtMs - last.releasedAtMs] : []
  })
}

function largestCycles(waits: readonly Wait[], byGrant: readonly Wait[]): number {
  const grants = byGrant.map(({ grantedAtMs }) => grantedAtMs)
  return largest(
    waits.map(
      ({ askedAtMs, grantedAtMs }) => countBelow(grants, grantedAtMs) - countBelow(grants, askedAtMs),
    ),
  )
}

/** How many of the sorted values are smaller. */
function countBelow(sorted: readonly number[], value: number): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? Infinity) < value) low = middle + 1
    else high = middle
  }
  return low
}

/**
 * Counts from the moment when a holder knew that it held to just before it gave the lock back, so that
 * only real holders are counted.
 */
function holders(byGrant: readonly Wait[], limit: number): { mostAtOnce: number; overLimit: number } {
  const releases = byGrant.map(({ releasedAtMs }) => releasedAtMs).toSorted((a, b) => a - b)
  let [given, mostAtOnce, overLimit] = [0, 0, 0]
  for (const [at, { grantedAtMs }] of byGrant.entries()) {
    while ((releases[given] ?? Infinity) <= grantedAtMs) given++
    const atOnce = at + 1 - given
    mostAtOnce = Math.max(mostAtOnce, atOnce)
    if (atOnce > limit) overLimit++
  }
  return { mostAtOnce, overLimit }
}
