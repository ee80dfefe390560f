// The counters of the configuration as they are served and flushed.

import { type Counters, type Loss, type Perilune, type Sink, SinkError } from 'perilune'
import type { Need } from '../readiness.ts'
import { Databases } from './databases.ts'
import { type CountersEntry, checked } from './entry.ts'

/** An entry with its table. Nothing is connected yet. */
export interface EntryWithSink {
  readonly entry: CountersEntry
  readonly sink: Sink
}

export interface Sinks {
  readonly all: readonly EntryWithSink[]
  /** Lets go of the databases; what is under way on them fails. */
  close(): Promise<void>
}

export interface OpenCounters extends EntryWithSink {
  readonly counters: Counters
}

/** Rejects with StartError where an entry cannot be. */
export async function openSinks(entries: readonly CountersEntry[]): Promise<Sinks> {
  const databases = new Databases()
  const all = entries.map(async (entry) => ({ entry, sink: await databases.sink(entry) }))
  return { all: await Promise.all(all), close: () => databases.close() }
}

/** Throws StartError where an entry cannot be. */
export function openCounters(
  perilune: Perilune,
  { all }: Sinks,
  onLoss: (key: string, loss: Loss) => void,
): OpenCounters[] {
  return all.map(({ entry, sink }) => {
    const { key, name, options } = entry
    const tell = (loss: Loss): void => onLoss(key, loss)
    return {
      entry,
      sink,
      counters: checked(key, () => perilune.counters(name, { ...options, sink, onLoss: tell })),
    }
  })
}

/** Its table must have been there once; from then on Redis counts without it. */
export function needOf({ entry, sink }: EntryWithSink, onTrouble: (reason: string) => void): Need {
  return {
    async prepare() {
      await sink.prepare().catch((error: unknown) => {
        onTrouble(troubleOf(error))
        throw error
      })
    },
    obstacle: (error) => obstacleOf(entry.key, error),
  }
}

/** For anybody to read: the words of the database are for the log. */
function obstacleOf(key: string, error: unknown): string {
  if (error instanceof SinkError && error.code === 'sink-misconfigured') {
    return `the counters ${key}: ${error.message}`
  }
  return error instanceof SinkError && error.code === 'sink-failed'
    ? `the database of the counters ${key} failed; the log says how`
    : `the database of the counters ${key} does not answer`
}

/** In one line, with the words of the database. */
export function troubleOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  const { cause } = Object(error) as { cause?: { code?: unknown } }
  const code = typeof cause?.code === 'string' ? ` (${cause.code})` : ''
  return (message + code).replaceAll(/\s+/g, ' ')
}
