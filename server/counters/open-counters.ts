// The counters of the configuration, opened for the routes and for flushing.

import {
  AmbiguousError,
  type Counters,
  DriverError,
  type RowCounters,
  type OutboxCounters,
  type Loss,
  type Perilune,
  SinkError,
} from 'perilune'
import type { Prerequisite } from '../health/readiness.ts'
import { type Database, Databases } from './databases.ts'
import { type CountersEntry, checked } from './entry.ts'

export type ServedCounters = Counters | RowCounters | OutboxCounters<never>

/** An entry with its tables. Nothing is connected yet. */
export interface EntryWithTables {
  readonly entry: CountersEntry
  /** Creates Perilune's tables if they are missing, and checks the others. Throws SinkError. */
  prepare(): Promise<void>
  /** Throws InvalidArgumentError. */
  open(perilune: Perilune, onLoss: (loss: Loss) => void): ServedCounters
}

export interface Tables {
  readonly all: readonly EntryWithTables[]
  /** Closes the databases; running calls on them fail. */
  close(): Promise<void>
}

export interface OpenCounters extends EntryWithTables {
  readonly counters: ServedCounters
}

/** Rejects with StartError if an entry is invalid. */
export async function openTables(entries: readonly CountersEntry[]): Promise<Tables> {
  const databases = new Databases()
  const all = entries.map(async (entry) => {
    const database = await databases.at(entry.database)
    return checked(entry.key, () => withTables(entry, database))
  })
  return { all: await Promise.all(all), close: () => databases.close() }
}

function withTables(entry: CountersEntry, database: Database): EntryWithTables {
  const { name } = entry
  if (entry.mode === 'events') {
    const events = database.events(entry.events)
    const options = { ...entry.options, events }
    return { entry, prepare: () => events.prepare(), open: (redis) => redis.counters(name, options) }
  }
  if (entry.mode === 'outbox') {
    const outbox = database.outbox(entry.outbox)
    const options = { ...entry.options, outbox }
    return { entry, prepare: () => outbox.prepare(), open: (redis) => redis.counters(name, options) }
  }
  const sink = database.sink(entry.target)
  const options = { ...entry.options, sink }
  return {
    entry,
    prepare: () => sink.prepare(),
    open: (redis, onLoss) => redis.counters(name, { ...options, onLoss }),
  }
}

/** Throws StartError if an entry is invalid. */
export function openCounters(
  perilune: Perilune,
  { all }: Tables,
  onLoss: (key: string, loss: Loss) => void,
): OpenCounters[] {
  return all.map((each) => {
    const { key } = each.entry
    const counters = checked(key, () => each.open(perilune, (loss) => onLoss(key, loss)))
    if (!('prepare' in counters)) return { ...each, counters }
    // Compares the tables with those of other processes before it creates any.
    return { ...each, prepare: () => counters.prepare(), counters }
  })
}

/** The tables must have been found once; after that Redis answers without them. */
export function needOf(
  { entry, prepare }: EntryWithTables,
  onTrouble: (reason: string) => void,
): Prerequisite {
  return {
    async prepare() {
      await prepare().catch((error: unknown) => {
        onTrouble(troubleOf(error))
        throw error
      })
    },
    obstacle: (error) => obstacleOf(entry.key, error),
  }
}

/** For public answers: the messages of the database only go to the log. */
function obstacleOf(key: string, error: unknown): string {
  if (error instanceof SinkError && error.code === 'sink-misconfigured') {
    return `the counters ${key}: ${error.message}`
  }
  if (error instanceof SinkError && error.code === 'sink-failed')
    return `the database of the counters ${key} failed; the log says how`
  const silent = error instanceof DriverError || error instanceof AmbiguousError ? 'Redis' : 'the database'
  return `${silent} of the counters ${key} does not answer`
}

/** In one line, with the message of the database. */
export function troubleOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const { cause } = Object(error) as { cause?: { code?: unknown } }
  const code = typeof cause?.code === 'string' ? ` (${cause.code})` : ''
  return (message + code).replaceAll(/\s+/g, ' ')
}
