// Many readers of one key that is not there, in several processes.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { largest, median } from '../harness/statistics.ts'
import { type Contender, PERILUNE } from './contender.ts'
import { LOADERS } from './contenders.ts'
import type { Work } from './job.ts'
import { mostAtOnce } from './loads.ts'
import { type Outcome, Processes } from './processes.ts'
import { Wire } from './wire.ts'

export const PROCESSES = 4
const ROUNDS = 5
const READERS = [50, 500]
const LOAD_MS = 100

interface Round extends Outcome {
  readonly commands: number
}

export async function compareStampedes(bench: Bench, able: ReadonlySet<string>): Promise<void> {
  const contenders = LOADERS.filter(({ name }) => able.has(name))
  const processes = new Processes(bench.port, PROCESSES)
  const wire = await Wire.open(bench.port)
  try {
    for (const readers of READERS) {
      const rounds = await runRounds(bench, { contenders, processes, wire, readers })
      bench.report(
        `a cold key, ${readers} readers in ${PROCESSES} processes, a load of ${LOAD_MS} ms`,
        [...rounds].map(toRow),
      )
      const ours = rounds.get(PERILUNE) ?? []
      bench.judge(
        `a cold key, ${readers} readers in ${PROCESSES} processes: loads`,
        { [PERILUNE]: largest(ours.map(({ loads }) => loads.length)) },
        { atMost: 1 },
      )
    }
  } finally {
    processes.close()
    wire.close()
  }
}

interface Plan {
  readonly contenders: readonly Contender[]
  readonly processes: Processes
  readonly wire: Wire
  readonly readers: number
}

async function runRounds(
  bench: Bench,
  { contenders, processes, wire, readers }: Plan,
): Promise<Map<string, Round[]>> {
  const rounds = new Map<string, Round[]>(contenders.map(({ name }) => [name, []]))
  const task = { kind: 'once', key: 'cold', readers } as const
  const work: Work = { freshMs: 60_000, loadMs: LOAD_MS, connections: Infinity, task }
  // The first round does not count: processes have begun just now.
  for (let round = 0; round <= (bench.quick ? 1 : ROUNDS); round++) {
    for (const contender of contenders) {
      const outcome = await processes.run(contender, work, async () => wire.reset())
      const commands = await wire.count()
      if (round > 0) rounds.get(contender.name)?.push({ ...outcome, commands })
    }
  }
  return rounds
}

/** Times from the common beginning to a reader's value: medians over all readers, and the last of a round. */
function toRow([variant, rounds]: [string, readonly Round[]]): Row {
  const gotMs = rounds.map(({ readAtMs, readTookMs, fromMs }) =>
    readAtMs.map((atMs, at) => atMs + (readTookMs[at] ?? 0) - fromMs),
  )
  return {
    variant,
    loads: median(rounds.map(({ loads }) => loads.length)),
    loadsAtOnce: largest(rounds.map(({ loads }) => mostAtOnce(loads))),
    p50Ms: median(gotMs.flat()),
    lastMs: median(gotMs.map(largest)),
    commands: median(rounds.map(({ commands }) => commands)),
    errors: largest(rounds.map(({ errors }) => errors)),
  }
}
