// Shared by the tests of counters: counters of their own for each, over a SQLite database in a file.

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import Database from 'libsql'
import { perilune } from 'perilune'
import type { Counters, CountersOptions } from 'perilune/counters'
import { ioredis } from 'perilune/ioredis'
import { sqlite } from 'perilune/sqlite'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import type { Sink } from '../src/counters/sink.ts'
import type { Target } from '../src/sinks/sql/sql.ts'
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'
import { counting } from './counting-driver.ts'

export interface Setup {
  counters: Counters
  client: Redis
  name: string
  database: Database.Database
  sink: Sink
  /** What the database does instead of the requested operation; null: the requested operation. */
  trouble: { instead: ((what: keyof Sink) => Error | null) | null }
  /** The content of the database. */
  stored(id: string | number): number | bigint | undefined
  /** Names of the scripts run so far. */
  calls: string[]
  clock: { advance(ms: number): Promise<void> }
  /** The same counters, as another process has them. */
  another(options?: Partial<CountersOptions>): Counters
}

export type SetupOptions = Omit<CountersOptions, 'sink'> & {
  clock?: 'real'
  target?: Partial<Target>
  port?: number
}

export async function setup({ clock: kind, target, port, ...options }: SetupOptions = {}): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-counters-'))
  const database = new Database(join(folder, 'counters.db'))
  database.exec('CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0)')
  const client = new Redis(port ?? inject('redisPort'))
  client.on('error', () => undefined)
  const calls: string[] = []
  const plain = counting(ioredis(client), calls)
  const open = () =>
    perilune(kind === 'real' ? plain : withTestClock(plain, contract.clock), { namespace: 'counters-test' })
  const redis = open()
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    database.close()
    rmSync(folder, { recursive: true })
  })
  const name = randomUUID()
  const partitions = options.partitions ?? 1
  let us = START_US
  const move = async (): Promise<void> => {
    for (let at = 0; at < partitions; at++)
      await setTestClock(plain, `counters-test:{counters:${name}:${at}}`, us)
  }
  if (kind !== 'real') await move()
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    await move()
  }
  const trouble: Setup['trouble'] = { instead: null }
  const sink = troubled(sqlite(database, { table: 'items', value: 'votes', ...target }), trouble)
  const another = (own: Partial<CountersOptions> = {}): Counters =>
    open().counters(name, { sink, fsyncGrace: '0s', ...options, ...own })
  const stored = (id: string | number) =>
    (database.prepare('SELECT votes FROM items WHERE id = ?').get(id) as { votes: number } | undefined)?.votes
  const counters = redis.counters(name, { sink, fsyncGrace: '0s', ...options })
  return { counters, client, name, database, sink, trouble, stored, calls, clock: { advance }, another }
}

/** The sink, whose calls fail first where there is trouble. */
function troubled(sink: Sink, trouble: Setup['trouble']): Sink {
  const before = async (what: keyof Sink): Promise<void> => {
    const error = trouble.instead?.(what) ?? null
    if (error !== null) throw error
  }
  return {
    name: sink.name,
    missing: sink.missing,
    prepare: () => before('prepare').then(() => sink.prepare()),
    read: (place, ids) => before('read').then(() => sink.read(place, ids)),
    standing: (place) =>
      before('standing').then(
        () => sink.standing?.(place) ?? Promise.reject(new Error('the sink reports no standing')),
      ),
    close: (place) => before('close').then(() => sink.close(place)),
    begin: (...asked) => before('begin').then(() => sink.begin(...asked)),
    apply: (batch) => before('apply').then(() => sink.apply(batch)),
    hasBatches: (...asked) =>
      before('hasBatches').then(() => sink.hasBatches?.(...asked) ?? Promise.resolve(false)),
    refused: (asked) => before('refused').then(() => sink.refused?.(asked) ?? Promise.resolve([])),
    retryRefused: (asked) =>
      before('retryRefused').then(() => sink.retryRefused?.(asked) ?? Promise.resolve(false)),
  }
}
