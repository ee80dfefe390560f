import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { SinkError } from '../../src/counters/errors.ts'
import type { Batch, Sink } from '../../src/counters/sink.ts'
import type { Place } from './places.ts'

export const ITEMS = { table: 'items', value: 'votes' } as const
export const WORDS = { table: 'words', value: 'votes' } as const

/** A table whose ids are integers, and one whose ids are text. */
export async function makeTables(place: Pick<Place, 'run'>): Promise<void> {
  await place.run('CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT NOT NULL DEFAULT 0)')
  await place.run('CREATE TABLE words (id VARCHAR(40) PRIMARY KEY, votes BIGINT NOT NULL DEFAULT 0)')
}

export interface Ledger {
  readonly counters: string
  readonly partition: number
  readonly epoch: number
}

export async function begin(sink: Sink): Promise<Ledger> {
  const counters = `test:${randomUUID()}`
  return { counters, partition: 0, epoch: await sink.begin(counters, 0) }
}

export function batchOf(ledger: Ledger, seq: number, deltas: Record<string, number | bigint>): Batch {
  const changes = Object.entries(deltas).map(([id, delta]) => ({ id, delta: BigInt(delta) }))
  return { ...ledger, seq, batch: randomUUID(), changes }
}

/** As a flush does it: once more where the database says that it is busy. */
export async function patiently<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SinkError && error.isPassing) || tries === 500) throw error
      await sleep(5)
    }
  }
}

/** The content of a table, by id, as text. */
export async function stored(place: Pick<Place, 'run'>, table: string): Promise<Record<string, string>> {
  const rows = await place.run(`SELECT id, CAST(votes AS CHAR(30)) AS votes FROM ${table}`)
  return Object.fromEntries(rows.map(({ id, votes }) => [String(id), String(votes).trim()]))
}
