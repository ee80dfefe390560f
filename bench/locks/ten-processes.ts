// One client in each of ten processes.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { median, percentile } from '../harness/statistics.ts'
import { bounded, TERMS } from './contender.ts'
import { LOCKS } from './contenders.ts'
import { type History, toHistory } from './history.ts'
import { isRefusal, Processes } from './processes.ts'

const PROCESSES = 10
const QUICK_PROCESSES = 3
const ROUNDS = 5
const MS = 2000
const QUICK_MS = 300

export async function compareProcesses(bench: Bench): Promise<void> {
  const count = bench.quick ? QUICK_PROCESSES : PROCESSES
  const processes = new Processes(bench.port, count)
  const contention = { ms: bench.quick ? QUICK_MS : MS, holdMs: 0 }
  const terms = bounded(TERMS, bench.quick)
  const histories = new Map<string, History[]>()
  try {
    for (let round = 0; round < (bench.quick ? 1 : ROUNDS); round++) {
      for (const contender of LOCKS) {
        const crowd = await processes.run({ kind: 'lock', contender, terms, contention, clientsEach: 1 })
        if (isRefusal(crowd)) continue
        const so = histories.get(contender.name) ?? []
        histories.set(contender.name, [...so, toHistory(crowd, count, terms.limit)])
      }
    }
  } finally {
    processes.close()
  }
  bench.report(`${count} processes, one client each`, [...histories].map(toRow))
}

function toRow([variant, all]: [string, readonly History[]]): Row {
  const handOffsMs = all.flatMap((history) => history.handOffsMs)
  return {
    variant,
    acquisitionsPerSecond: median(all.map(({ perSecond }) => perSecond)),
    handOffP50Ms: median(handOffsMs),
    handOffP99Ms: percentile(handOffsMs, 0.99),
    maxWaitMs: Math.max(...all.map(({ maxWaitMs }) => maxWaitMs)),
    jain: median(all.map((history) => history.jain)),
    starved: Math.max(...all.map(({ starved }) => starved)),
    overLimit: Math.max(...all.map(({ overLimit }) => overLimit)),
  }
}
