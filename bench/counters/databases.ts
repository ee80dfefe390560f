// One database after the other, so that none works while another is measured.

import type { Bench } from '../harness/bench.ts'
import { firstLine } from '../harness/first-line.ts'
import type { Row } from '../harness/print.ts'
import type { Contender } from './contender.ts'
import { CONTENDERS, WRITERS_BEHIND } from './contenders.ts'
import { compareCosts, type Pair } from './costs.ts'
import type { Database, Kind } from './database.ts'
import { compareIncrements } from './increments.ts'
import { openMariadb } from './mariadb.ts'
import { compareOffered } from './offered.ts'
import { openPostgres } from './postgres.ts'
import { compareRates } from './rates.ts'
import { MIXES } from './rounds.ts'
import { openSqlite } from './sqlite.ts'
import { openStage, type Staged } from './stage.ts'

const OPENERS: Readonly<Record<Kind, () => Promise<Database>>> = {
  PostgreSQL: openPostgres,
  MariaDB: openMariadb,
  SQLite: openSqlite,
}

const ALL = [...new Set([...CONTENDERS, ...WRITERS_BEHIND.flat()])]

export async function compareOn(bench: Bench, kind: Kind): Promise<void> {
  const database = await opened(bench, kind)
  if (database === null) return
  const stages = new Map<Contender, Staged>()
  try {
    for (const contender of ALL.filter(({ on = [kind] }) => on.includes(kind)))
      stages.set(contender, await openStage(database, bench.port, contender, stages.size))
    const staged = stagedOf(stages, CONTENDERS)
    for (const mix of MIXES) {
      await compareRates(bench, kind, staged, mix)
      if (kind !== 'SQLite') await compareCosts(bench, kind, pairsOf(stages), mix)
    }
    await compareOffered(bench, kind, staged)
    if (kind === 'SQLite') await compareIncrements(bench, database)
  } finally {
    for (const { voting } of stages.values()) await voting.close?.()
    await database.stop()
  }
}

function stagedOf(stages: ReadonlyMap<Contender, Staged>, contenders: readonly Contender[]): Staged[] {
  return contenders.flatMap((contender) => stages.get(contender) ?? [])
}

function pairsOf(stages: ReadonlyMap<Contender, Staged>): Pair[] {
  return WRITERS_BEHIND.flatMap((pair) => {
    const [writes, waits] = stagedOf(stages, pair)
    return writes === undefined || waits === undefined ? [] : [[writes, waits] as const]
  })
}

/** Null where the server is not installed. */
async function opened(bench: Bench, kind: Kind): Promise<Database | null> {
  try {
    const database = await OPENERS[kind]()
    bench.report(`${kind}, as it is measured`, [{ variant: kind, settings: await database.settings() }])
    return database
  } catch (error) {
    bench.report(kind, [{ variant: kind, settings: `not measured: ${firstLine(error)}` }])
    return null
  }
}

export function reportSettings(bench: Bench): void {
  bench.report('contenders and their settings', ALL.map(toRow))
}

function toRow({ name, on, settings }: Contender): Row {
  return { variant: name, on: on?.join(', ') ?? 'all', settings }
}
