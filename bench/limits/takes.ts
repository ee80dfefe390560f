// Takes one at a time and a hundred in flight, on one subject and on a thousand in turn.

import { Redis } from 'ioredis'
import type { Bench, CompareOptions, Measured, Variant } from '../harness/bench.ts'
import { firstLine } from '../harness/first-line.ts'
import type { Row } from '../harness/print.ts'
import { toRow } from '../locks/about.ts'
import { PERILUNE, type Source } from './contender.ts'
import { LIMITERS } from './contenders.ts'
import { promisingScript } from './floors.ts'
import { rateLimiterFlexible } from './rate-limiter-flexible.ts'

const SUBJECTS = [1, 1000]
const ALONE: CompareOptions = { perRound: 2000 }
const CROWDED: CompareOptions = { perRound: 20_000, inFlight: 100 }

type Result = ReadonlyMap<string, Measured>

export async function compareTakes(bench: Bench): Promise<void> {
  const connection = new Redis({ port: bench.port, enableAutoPipelining: true })
  const { sources, rows } = await connectAll(connection)
  bench.report('contenders and their settings', rows)
  try {
    for (const subjects of SUBJECTS) {
      const variants = Object.fromEntries(
        [...sources].map(([name, source]) => [name, taking(source, subjects)]),
      )
      const where = subjects === 1 ? 'one subject' : `${subjects} subjects`
      const alone = await bench.compare(`takes of ${where}, one at a time`, variants, ALONE)
      const crowded = await bench.compare(`takes of ${where}, 100 in flight`, variants, CROWDED)
      judge(bench, where, alone, crowded)
    }
  } finally {
    for (const source of sources.values()) await source.close()
    connection.disconnect()
  }
}

interface Connected {
  readonly sources: ReadonlyMap<string, Source>
  readonly rows: readonly Row[]
}

async function connectAll(connection: Redis): Promise<Connected> {
  const sources = new Map<string, Source>()
  const rows: Row[] = []
  for (const contender of LIMITERS) {
    try {
      sources.set(contender.name, await contender.connect(connection))
      rows.push(toRow(contender))
    } catch (error) {
      rows.push(toRow(contender, firstLine(error)))
    }
  }
  return { sources, rows }
}

function taking(source: Source, subjects: number): Variant {
  let turn = 0
  return () => source.take(`subject-${turn++ % subjects}`)
}

function judge(bench: Bench, where: string, alone: Result, crowded: Result): void {
  const ours = { alone: alone.get(PERILUNE), crowded: crowded.get(PERILUNE) }
  const peer = crowded.get(rateLimiterFlexible.name)
  const floor = alone.get(promisingScript.name)
  if (ours.alone === undefined || ours.crowded === undefined || floor === undefined) return
  if (peer !== undefined) {
    bench.judge(
      `takes of ${where}, 100 in flight: calls per second against rate-limiter-flexible`,
      { [PERILUNE]: ours.crowded.callsPerSecond / peer.callsPerSecond },
      { atLeast: 1.5 },
    )
  }
  bench.judge(
    `takes of ${where}, one at a time: server µs above the least script that keeps the promises`,
    { [PERILUNE]: ours.alone.serverUs - floor.serverUs },
    { atMost: 2 },
  )
}
