// One client without contention: acquire, release, again.

import { Redis } from 'ioredis'
import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import type { Round, Steps } from '../harness/round.ts'
import { median, percentile } from '../harness/statistics.ts'
import { BARGING, PERILUNE, TERMS } from './contender.ts'
import { LOCKS } from './contenders.ts'
import { type Cost, measureCost } from './cost.ts'
import { floor, promising } from './floor.ts'
import { openStands, type Stand } from './stand.ts'

const PAIRS = 2000
const QUICK_PAIRS = 200

export async function comparePairs(bench: Bench): Promise<void> {
  const info = new Redis(bench.port)
  const crew = { port: bench.port, clients: 1, connections: 'own' } as const
  const { stands } = await openStands(LOCKS, TERMS, crew)
  const costs = new Map<string, Cost[]>()
  const variants = stands.map((stand) => toSteps(stand, bench, info, costs))
  const options = { perRound: bench.quick ? QUICK_PAIRS : PAIRS, limitMs: 5000 }
  const rounds = await bench.rounds(variants, options)
  for (const stand of stands) await stand.close()
  info.disconnect()
  const rows = stands.map(({ contender: { name } }, at) =>
    toRow(name, rounds[at] ?? [], costs.get(name) ?? []),
  )
  bench.report('acquire and release, one client', rows)
  judge(bench, rows)
}

function toSteps(stand: Stand, bench: Bench, info: Redis, costs: Map<string, Cost[]>): Steps {
  const all: Cost[] = []
  costs.set(stand.contender.name, all)
  const [client] = stand.clients
  let cost: () => Promise<Cost>
  return {
    before: async () => (cost = await measureCost(info, bench.pid, stand)),
    call: async () => (await client?.acquire())?.(),
    after: async () => all.push(await cost()),
  }
}

/** The first cost is of the round that does not count. */
function toRow(variant: string, rounds: readonly Round[], [, ...costs]: readonly Cost[]): Row {
  const latenciesMs = rounds.flatMap((round) => [...round.latenciesMs])
  const each = (of: (cost: Cost) => number): number =>
    median(costs.map((cost, at) => of(cost) / (rounds[at]?.latenciesMs.length ?? Number.NaN)))
  return {
    variant,
    pairsPerSecond: median(rounds.map((round) => round.callsPerSecond)),
    p50Ms: median(latenciesMs),
    p99Ms: percentile(latenciesMs, 0.99),
    commands: each(({ commands }) => commands),
    serverUs: each(({ insideUs }) => insideUs),
    serverCpuUs: median(rounds.map((round) => round.cpuUs)),
    clientCpuUs: median(rounds.map((round) => round.clientCpuUs)),
  }
}

function judge(bench: Bench, rows: readonly Row[]): void {
  const rate = (name: string): number =>
    Number(rows.find(({ variant }) => variant === name)?.['pairsPerSecond'] ?? Number.NaN)
  const found = [PERILUNE, BARGING, promising.name].filter((name) => !Number.isNaN(rate(name)))
  const values = Object.fromEntries(found.map((name) => [name, rate(name) / rate(floor.name)]))
  bench.judge('a pair against the floor', values, { atLeast: 0.9 })
}
