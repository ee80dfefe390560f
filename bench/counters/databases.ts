// One database after the other, so that none works while another is measured.

import type { Bench } from '../harness/bench.ts'
import { firstLine } from '../harness/first-line.ts'
import type { Row } from '../harness/print.ts'
import type { Contender } from './contender.ts'
import { CONTENDERS, WITHOUT_FLUSH } from './contenders.ts'
import type { Database, Kind } from './database.ts'
import { compareIncrements } from './increments.ts'
import { openMariadb } from './mariadb.ts'
import { compareOffered } from './offered.ts'
import { openPostgres } from './postgres.ts'
import { compareRates, MIXES } from './rates.ts'
import { openSqlite } from './sqlite.ts'
import { openStage, type Staged } from './stage.ts'

const OPENERS: Readonly<Record<Kind, () => Promise<Database>>> = {
  PostgreSQL: openPostgres,
  MariaDB: openMariadb,
  SQLite: openSqlite,
}

export async function compareOn(bench: Bench, kind: Kind): Promise<void> {
  const database = await opened(bench, kind)
  if (database === null) return
  const staged: Staged[] = []
  try {
    const all = CONTENDERS.filter(({ on = [kind] }) => on.includes(kind))
    for (const contender of all) staged.push(await openStage(database, bench.port, contender, staged.length))
    for (const mix of MIXES) await compareRates(bench, kind, staged, mix)
    const offered = staged.filter(({ contender }) => !WITHOUT_FLUSH.has(contender))
    await compareOffered(bench, kind, offered)
    if (kind === 'SQLite') await compareIncrements(bench, database)
  } finally {
    for (const { voting } of staged) await voting.close?.()
    await database.stop()
  }
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
  bench.report('contenders and their settings', CONTENDERS.map(toRow))
}

function toRow({ name, on, settings }: Contender): Row {
  return { variant: name, on: on?.join(', ') ?? 'all', settings }
}
