// Write-behind counters in a SQLite file that all processes of a run share.

import { join } from 'node:path'
import Database from 'libsql'
import type { Counters } from 'perilune'
import { sqlite } from 'perilune/sqlite'
import { oneOf } from '../cell.ts'
import { eventually, repeat, type Site, type Workload } from './workload.ts'

const IDS = ['1', '2', '3']

interface Books {
  readonly database: Database.Database
  readonly counters: Counters
}

function open({ redis, folder, replicated }: Site, name: string, partitions: number): Books {
  const database = new Database(join(folder, `${name}.db`))
  // First, for others may be just opening it, too.
  database.exec('PRAGMA busy_timeout = 5000')
  logAhead(database)
  database.exec('CREATE TABLE IF NOT EXISTS items (id TEXT PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0)')
  for (const id of IDS) database.prepare('INSERT OR IGNORE INTO items (id) VALUES (?)').run(id)
  const sink = sqlite(database, { table: 'items', value: 'votes' })
  return {
    database,
    counters: redis.counters(name, { sink, partitions, fsyncGrace: replicated ? '1s' : '0s' }),
  }
}

/** SQLite does not wait for others when the file format changes, as two processes may change it at once. */
function logAhead(database: Database.Database): void {
  for (let tries = 1; ; tries++) {
    try {
      database.exec('PRAGMA journal_mode = WAL')
      return
    } catch (error) {
      if (tries === 100 || !String(error).includes('locked')) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
    }
  }
}

function count({ recorder, luck }: Site, { counters }: Books): Promise<unknown> {
  const key = oneOf(luck, IDS)
  return recorder.call(
    { what: 'increment', key },
    () => counters.increment(key),
    (value) => ({ value: Number(value) }),
  )
}

async function flush({ recorder }: Site, { counters, database }: Books): Promise<void> {
  const flushed = await eventually(async () => {
    await counters.flush().catch(() => undefined)
    return (await counters.inspect()).dirty === 0
  })
  recorder.saw('left', '', { flushed })
  for (const id of IDS) {
    const row = database.prepare('SELECT votes FROM items WHERE id = ?').get(id) as { votes: number }
    recorder.saw('row', id, { votes: row.votes, value: Number(await counters.get(id)) })
  }
}

function workload(name: string, partitions: number): Workload {
  const books = new WeakMap<Site, Books>()
  return {
    async work(site) {
      const own = open(site, name, partitions)
      books.set(site, own)
      const flushing =
        site.process === 0 ? own.counters.flushEvery('200ms', { onError: () => undefined }) : null
      await repeat(site, 50, () => count(site, own))
      await flushing?.close()
    },
    look: async (site) => flush(site, books.get(site) ?? open(site, name, partitions)),
  }
}

export const counters: Workload = workload('votes', 1)
export const countersPartitioned: Workload = workload('spread', 3)
