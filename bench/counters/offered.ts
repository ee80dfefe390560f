// The origin's case: so many votes a second for one item, whether those before have been answered or not.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { largest, median, percentile } from '../harness/statistics.ts'
import type { Kind } from './database.ts'
import { driftOf, empty, type Staged } from './stage.ts'
import { mostOf } from './verdicts.ts'
import { voterOf } from './voters.ts'

const VOTES_PER_SECOND = 1000
const ROUND_MS = 1500
const ROUNDS = 2

interface Load {
  /** From when a vote was due until its answer. */
  readonly tookMs: readonly number[]
  readonly drift: number
  readonly errors: number
}

export async function compareOffered(bench: Bench, kind: Kind, staged: readonly Staged[]): Promise<void> {
  const loads: Load[][] = staged.map(() => [])
  for (let round = 0; round < (bench.quick ? 1 : ROUNDS); round++) {
    for (const [at, each] of staged.entries())
      loads[at]?.push(await offer(each, bench.quick ? 300 : ROUND_MS))
  }
  const rows = staged.map(({ contender }, at) => toRow(contender.name, loads[at] ?? []))
  bench.report(`${kind}, one hot item: ${VOTES_PER_SECOND} votes a second offered`, rows)
}

async function offer(staged: Staged, forMs: number): Promise<Load> {
  const { stage, voting } = staged
  const [item = 1] = await empty(stage, 1)
  await voting.begin?.([item])
  const tookMs: number[] = []
  let errors = 0
  const vote = async (voter: number, dueMs: number): Promise<void> => {
    await voting.vote(voter, item).catch(() => errors++)
    tookMs.push(performance.now() - dueMs)
  }
  await onTime(forMs, vote)
  await voting.settle?.()
  return { tookMs, errors, drift: await driftOf(staged, tookMs.length - errors) }
}

/** Each begins as soon as it is due; resolves when all have been answered. */
async function onTime(forMs: number, vote: (voter: number, dueMs: number) => Promise<void>): Promise<void> {
  const votes: Promise<void>[] = []
  const everyMs = 1000 / VOTES_PER_SECOND
  const count = Math.floor(forMs / everyMs)
  const beganMs = performance.now()
  const dueMs = (): number => beganMs + votes.length * everyMs
  while (votes.length < count) {
    while (votes.length < count && dueMs() <= performance.now())
      votes.push(vote(voterOf(votes.length), dueMs()))
    await sleep(1)
  }
  await Promise.all(votes)
}

function toRow(variant: string, loads: readonly Load[]): Row {
  const tookMs = loads.flatMap((load) => load.tookMs)
  return {
    variant,
    votes: tookMs.length,
    p50Ms: median(tookMs),
    p99Ms: percentile(tookMs, 0.99),
    maxMs: largest(tookMs),
    drift: mostOf(loads.map(({ drift }) => drift)),
    errors: largest(loads.map(({ errors }) => errors)),
  }
}
