// A file of SQLite that may not exist yet. All its counters share one connection, which runs transactions one after the
// other. With more connections, libsql lets as many threads wait for a lock as there are cores, and then its holder
// cannot continue.

import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SinkError } from 'perilune'
import type { Execute } from 'perilune/transaction-sink'

// Time to wait for locks of other processes.
const PATIENCE_MS = 2000
const PAUSE_MS = 10

interface Prepared {
  readonly reader: boolean
  all(...values: unknown[]): Promise<unknown[]>
  run(...values: unknown[]): Promise<{ readonly changes: number }>
}

interface Connection {
  prepare(sql: string): Promise<Prepared>
  exec(sql: string): Promise<unknown>
  close(): void
}

export class SqliteFile {
  readonly #path: string
  #connection: Connection | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(path: string) {
    this.#path = path
  }

  transact<Result>(work: (execute: Execute) => Promise<Result>): Promise<Result> {
    const result = this.#last.then(() => this.#run(work))
    this.#last = result.catch(() => undefined)
    return result
  }

  async close(): Promise<void> {
    await this.#last
    this.#connection?.close()
  }

  async #run<Result>(work: (execute: Execute) => Promise<Result>): Promise<Result> {
    const connection = (this.#connection ??= await this.#open())
    await patiently(connection, 'BEGIN IMMEDIATE')
    try {
      const result = await work((sql, values) => execute(connection, sql, values))
      await patiently(connection, 'COMMIT')
      return result
    } catch (error) {
      // A transaction rolled back by its failure does not exist any more.
      await connection.exec('ROLLBACK').catch(() => undefined)
      throw error
    }
  }

  async #open(): Promise<Connection> {
    // Opening it would create an empty one.
    if (!existsSync(this.#path))
      throw new SinkError('sink-unreachable', `the file ${this.#path} does not exist`)
    const { default: Database } = await import('libsql/promise')
    try {
      return new Database(this.#path, {})
    } catch (error) {
      throw new SinkError('sink-unreachable', `the file ${this.#path} cannot be opened`, { cause: error })
    }
  }
}

async function execute(connection: Connection, sql: string, values: unknown[]): ReturnType<Execute> {
  const prepared = await connection.prepare(sql)
  if (prepared.reader) return { rows: await prepared.all(...values), changed: 0 }
  const { changes } = await prepared.run(...values)
  return { rows: [], changed: changes }
}

/** Retries while another process holds the lock. */
async function patiently(connection: Connection, sql: 'BEGIN IMMEDIATE' | 'COMMIT'): Promise<void> {
  const by = performance.now() + PATIENCE_MS
  for (;;) {
    try {
      await connection.exec(sql)
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > by) throw error
    }
    await sleep(PAUSE_MS)
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY')
}
