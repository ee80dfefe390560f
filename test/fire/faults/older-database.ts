import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'libsql'
import { between } from '../cell.ts'
import type { Fault, Scene } from './fault.ts'

/** For write-behind counters; see ../workloads/counters.ts. */
const FILES = ['votes.db', 'spread.db']
/** Increments that were acknowledged before the copy was made, and not written by then. */
const AROUND_MS = 2000

/**
 * An older copy of the databases of counters is put back: later writes are lost, and nothing else; nothing counts
 * twice.
 */
async function happen({ folder, luck, deal }: Scene): Promise<void> {
  const files = FILES.map((name) => join(folder, name)).filter((file) => existsSync(file))
  await deal.during(
    'losses',
    async () => {
      for (const file of files) copy(file)
      await sleep(between(luck, 500, 2000))
      for (const file of files) putBack(file)
    },
    AROUND_MS,
  )
  await sleep(500)
}

function copy(file: string): void {
  const database = opened(file)
  database.exec(`VACUUM INTO '${file}.old'`)
  database.close()
}

/** In one transaction, for others have the file open. */
function putBack(file: string): void {
  const database = opened(file)
  database.exec(`ATTACH '${file}.old' AS old`)
  const tables = database
    .prepare("SELECT name FROM old.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all() as { name: string }[]
  database.exec('BEGIN IMMEDIATE')
  for (const { name } of tables) {
    database.exec(`DELETE FROM main."${name}"`)
    database.exec(`INSERT INTO main."${name}" SELECT * FROM old."${name}"`)
  }
  database.exec('COMMIT')
  database.close()
  rmSync(`${file}.old`)
}

function opened(file: string): Database.Database {
  const database = new Database(file)
  database.exec('PRAGMA busy_timeout = 5000')
  return database
}

export const olderDatabase: Fault = { on: ['single'], happen }
