// SQLite in a file, through libsql. It has one writer, and the client blocks: votes are one after the other, however many
// are under way.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Client from 'libsql'
import type { SqliteDatabase } from '../../src/sinks/sqlite.ts'
import { builtLibrary } from '../harness/built.ts'
import type { Database, Rows, Run } from './database.ts'
import { Turns } from './turns.ts'

export async function openSqlite(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-bench-'))
  const open = (): Client.Database => {
    const client = new Client(join(folder, 'bench.db'))
    client.exec('PRAGMA journal_mode = WAL')
    client.exec('PRAGMA synchronous = FULL')
    return client
  }
  const [votes, sinks, judge] = [open(), open(), open()]
  const turns = new Turns()
  const counted = { statements: 0 }
  const run = runOn(votes, counted)
  const ofSinks = taking(turns, sinks, counted)
  return {
    kind: 'SQLite',
    run: (sql, values) => turns.take(() => run(sql, values)),
    prepare: (sql) => turns.take(async () => judge.exec(sql)),
    transaction: (work) => turns.take(() => inTransaction(run, work)),
    settings: async () => {
      const [version] = judge.prepare('SELECT sqlite_version() AS version').all() as { version: string }[]
      return `libsql, SQLite ${version?.version}, a file, journal_mode WAL, synchronous FULL`
    },
    eventColumns: () => ({ columns: 'id INTEGER PRIMARY KEY AUTOINCREMENT', index: '' }),
    sink: async (target) => (await builtLibrary()).sqlite.sqlite(ofSinks, target),
    events: async (options) => (await builtLibrary()).sqlite.sqliteEvents(ofSinks, options),
    work: async () => ({ ...counted, rows: changesOf(votes) + changesOf(sinks) }),
    stop: async () => {
      for (const client of [votes, sinks, judge]) client.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function runOn(client: Client.Database, counted: { statements: number }): Run {
  const prepared = new Map<string, Client.Statement>()
  return async (sql, values = []) => {
    const statement = prepared.get(sql) ?? client.prepare(sql)
    prepared.set(sql, statement)
    counted.statements++
    if (statement.reader) return statement.all(...values) as Rows
    statement.run(...values)
    return []
  }
}

async function inTransaction(run: Run, work: (run: Run) => Promise<unknown>): Promise<void> {
  await run('BEGIN IMMEDIATE')
  try {
    await work(run)
    await run('COMMIT')
  } catch (error) {
    await run('ROLLBACK')
    throw error
  }
}

/** A connection whose transactions wait for the votes, and the votes for them: else they would meet in a busy file. */
function taking(turns: Turns, client: Client.Database, counted: { statements: number }): SqliteDatabase {
  let end: () => void = () => undefined
  return {
    prepare: (sql) => {
      counted.statements++
      return client.prepare(sql)
    },
    exec: async (sql: string) => {
      counted.statements++
      const begins = sql.startsWith('BEGIN')
      if (begins) end = await turns.begin()
      let isOpen = false
      try {
        client.exec(sql)
        isOpen = begins
      } finally {
        if (!isOpen) end()
      }
    },
  }
}

function changesOf(client: Client.Database): number {
  const [row] = client.prepare('SELECT total_changes() AS changes').all() as { changes: number }[]
  return row?.changes ?? Number.NaN
}
