// Three processes whose clocks disagree, and how often more hold a permit than there are.

import type { Bench } from '../harness/bench.ts'
import { PERILUNE, type Terms } from '../locks/contender.ts'
import { type History, toHistory } from '../locks/history.ts'
import { isRefusal, Processes } from '../locks/processes.ts'
import { SEMAPHORES } from './contenders.ts'

const SKEWS: Readonly<Record<string, number>> = {
  'clocks agree': 0,
  'clocks ± 10 s': 10_000,
  'clocks ± 10 min': 600_000,
}
const MS = 5000
const QUICK_MS = 300
const PROCESSES = 3
const CLIENTS_EACH = 10
/** So long that those who hold at once are seen to do so. */
const HOLD_MS = 5

export async function compareSkews(bench: Bench, terms: Terms): Promise<void> {
  const processes = new Processes(bench.port, PROCESSES)
  const contention = { ms: bench.quick ? QUICK_MS : MS, holdMs: HOLD_MS }
  try {
    for (const [said, skewMs] of Object.entries(SKEWS)) {
      const histories = new Map<string, History>()
      for (const contender of SEMAPHORES) {
        // A name for each skew: what one leaves behind must not disturb the next.
        const named = { ...terms, name: `${terms.name}:${skewMs}` }
        const skewsMs = [0, skewMs, -skewMs]
        const round = { kind: 'semaphore', contender, terms: named, contention } as const
        const crowd = await processes.run({ ...round, clientsEach: CLIENTS_EACH, skewsMs })
        if (isRefusal(crowd)) continue
        histories.set(contender.name, toHistory(crowd, PROCESSES * CLIENTS_EACH, terms.limit))
      }
      tell(bench, said, terms, histories)
    }
  } finally {
    processes.close()
  }
}

function tell(bench: Bench, said: string, terms: Terms, histories: ReadonlyMap<string, History>): void {
  const rows = [...histories].map(([variant, history]) => ({
    variant,
    acquisitions: history.acquisitions,
    acquisitionsPerSecond: history.perSecond,
    mostAtOnce: history.mostAtOnce,
    overLimit: history.overLimit,
    maxWaitMs: history.maxWaitMs,
    jain: history.jain,
  }))
  const crowd = `${PROCESSES} processes of ${CLIENTS_EACH}`
  bench.report(`${said}: ${terms.limit} permits, ${crowd}, held for ${HOLD_MS} ms`, rows)
  const ours = histories.get(PERILUNE)
  if (ours === undefined) return
  bench.judge(`${said}: times over the limit`, { [PERILUNE]: ours.overLimit }, { atMost: 0 })
}
