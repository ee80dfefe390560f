// Rounds of work on many jobs, all contenders in turn, reported for one job.

import { Redis } from 'ioredis'
import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { median } from '../harness/statistics.ts'
import { type Cost, measureCost } from './cost.ts'

/** One round of one contender. */
export interface Turn {
  /** As a `Source` has it. */
  readonly sends: readonly string[]
  /** What is not measured, before and after. */
  before?(jobs: number): Promise<unknown>
  run(jobs: number): Promise<unknown>
  after?(): Promise<unknown>
}

export type Turns = ReadonlyMap<string, Turn>

export interface TurnTerms {
  /** Of one round. */
  readonly jobs: number
  /** Default 5. */
  readonly rounds?: number
}

/** All for one job, medians of the rounds. */
export interface PerJob extends Cost {
  readonly perSecond: number
}

export type Results = ReadonlyMap<string, PerJob>

const ROUNDS = 5
const QUICK_ROUNDS = 2
const QUICK_SHARE = 10

/** Runs the turns round by round, after one round that does not count, and prints a row for each. */
export async function compareTurns(
  bench: Bench,
  title: string,
  turns: Turns,
  terms: TurnTerms,
): Promise<Results> {
  if (turns.size === 0) return new Map()
  const results = await takeTurns(bench, turns, terms)
  bench.report(
    title,
    [...results].map(([variant, result]) => ({ variant, ...toColumns(result) })),
  )
  return results
}

export async function takeTurns(bench: Bench, turns: Turns, terms: TurnTerms): Promise<Results> {
  const client = new Redis(bench.port)
  const rounds = new Map<string, PerJob[]>([...turns.keys()].map((name) => [name, []]))
  const [count, jobs] = [bench.quick ? QUICK_ROUNDS : (terms.rounds ?? ROUNDS), jobsOf(bench, terms.jobs)]
  try {
    for (let round = 0; round <= count; round++) {
      for (const [name, turn] of turns) {
        const result = await takeTurn(turn, jobs, client, bench.pid)
        if (round > 0) rounds.get(name)?.push(result)
      }
    }
  } finally {
    client.disconnect()
  }
  return new Map([...rounds].map(([name, all]) => [name, middle(all)]))
}

/** A tenth with `--quick`. */
export function jobsOf(bench: Bench, jobs: number): number {
  return bench.quick ? jobs / QUICK_SHARE : jobs
}

async function takeTurn(turn: Turn, jobs: number, client: Redis, pid: number): Promise<PerJob> {
  await turn.before?.(jobs)
  const costSince = await measureCost(client, pid, turn.sends)
  const began = performance.now()
  await turn.run(jobs)
  const seconds = (performance.now() - began) / 1000
  const cost = await costSince()
  await turn.after?.()
  return {
    perSecond: jobs / seconds,
    cpuUs: cost.cpuUs / jobs,
    insideUs: cost.insideUs / jobs,
    commands: cost.commands / jobs,
    called: cost.called / jobs,
    clientCpuUs: cost.clientCpuUs / jobs,
  }
}

function middle(rounds: readonly PerJob[]): PerJob {
  const of = (value: (round: PerJob) => number): number => median(rounds.map(value))
  return {
    perSecond: of(({ perSecond }) => perSecond),
    cpuUs: of(({ cpuUs }) => cpuUs),
    insideUs: of(({ insideUs }) => insideUs),
    commands: of(({ commands }) => commands),
    called: of(({ called }) => called),
    clientCpuUs: of(({ clientCpuUs }) => clientCpuUs),
  }
}

export function toColumns(result: PerJob): Omit<Row, 'variant'> {
  const { perSecond, insideUs, cpuUs, clientCpuUs, commands, called } = result
  return {
    jobsPerSecond: perSecond,
    serverUs: insideUs,
    serverCpuUs: cpuUs,
    clientCpuUs,
    commands,
    calledInScripts: called,
  }
}
