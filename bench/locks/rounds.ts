// Rounds of contention in this process, all contenders in turn, and what they come to.

import { Redis } from 'ioredis'
import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { largest, median, percentile } from '../harness/statistics.ts'
import { type Contender, PERILUNE, type Terms } from './contender.ts'
import { type Cost, measureCost } from './cost.ts'
import { type Contention, type Crowd, contend } from './crowd.ts'
import { type History, toHistory } from './history.ts'
import { type Crew, openStands, type Stand } from './stand.ts'

export interface Round extends Cost {
  readonly history: History
  readonly crowd: Crowd
}

/** Rounds of each contender that could run, by its name. */
export type Rounds = ReadonlyMap<string, readonly Round[]>

export interface Plan {
  readonly contenders: readonly Contender[]
  readonly terms: Terms
  readonly clients: number
  readonly connections: Crew['connections']
  readonly contention: Contention
  readonly rounds: number
}

const WARM_UP_MS = 200

/** Each contender warms up once, then all take turns. */
export async function runRounds(bench: Bench, plan: Plan): Promise<Rounds> {
  const { contenders, terms, clients, connections } = plan
  const info = new Redis(bench.port)
  const { stands } = await openStands(contenders, terms, { port: bench.port, clients, connections })
  const rounds = new Map<string, Round[]>(stands.map(({ contender }) => [contender.name, []]))
  try {
    for (const stand of stands) await contend(stand.clients, { ms: WARM_UP_MS, holdMs: 0 })
    for (let round = 0; round < plan.rounds; round++) {
      for (const stand of stands) {
        rounds.get(stand.contender.name)?.push(await runRound(info, bench.pid, stand, plan))
      }
    }
  } finally {
    for (const stand of stands) await stand.close()
    info.disconnect()
  }
  return rounds
}

async function runRound(info: Redis, pid: number, stand: Stand, plan: Plan): Promise<Round> {
  const cost = await measureCost(info, pid, stand)
  const crowd = await contend(stand.clients, plan.contention)
  return { ...(await cost()), crowd, history: toHistory(crowd, plan.clients, plan.terms.limit) }
}

/** The median of the rounds; NaN for a contender that did not run. */
export function middle(rounds: Rounds, name: string, of: (round: Round) => number): number {
  return median((rounds.get(name) ?? []).map(of))
}

/** The worst of the rounds. */
export function worst(rounds: Rounds, name: string, of: (round: Round) => number): number {
  return largest((rounds.get(name) ?? []).map(of))
}

export const rateOf = ({ history }: Round): number => history.perSecond

/** With the turns that were taken after the end, for their commands are in the cost. */
export const commandsOf = ({ commands, crowd }: Round): number => commands / crowd.waits.length

/** How evenly and how fast the lock goes round; waits and errors are the worst, the rest medians. */
export function fairnessRows(rounds: Rounds): Row[] {
  return [...rounds].map(([variant, all]) => {
    const handOffsMs = all.flatMap(({ history }) => history.handOffsMs)
    const of = (value: (round: Round) => number): number => middle(rounds, variant, value)
    const most = (value: (round: Round) => number): number => worst(rounds, variant, value)
    return {
      variant,
      acquisitionsPerSecond: of(rateOf),
      handOffP50Ms: median(handOffsMs),
      handOffP99Ms: percentile(handOffsMs, 0.99),
      maxWaitCycles: most(({ history }) => history.maxWaitCycles),
      maxWaitMs: most(({ history }) => history.maxWaitMs),
      jain: of(({ history }) => history.jain),
      starved: most(({ history }) => history.starved),
      mostAtOnce: most(({ history }) => history.mostAtOnce),
      overLimit: most(({ history }) => history.overLimit),
      commands: of(commandsOf),
      serverUs: of(({ insideUs, crowd }) => insideUs / crowd.waits.length),
      serverCpuUs: of(({ cpuUs, crowd }) => cpuUs / crowd.waits.length),
      errors: most(({ crowd }) => crowd.errors.length),
    }
  })
}

/** A value of each of our rows that ran. */
export function ours(
  rounds: Rounds,
  of: (name: string) => number,
  names: readonly string[] = [PERILUNE],
): Record<string, number> {
  return Object.fromEntries(names.filter((name) => rounds.has(name)).map((name) => [name, of(name)]))
}
