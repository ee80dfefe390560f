// The counters of the service. The environment names each with its table: clients do not choose databases.

import { readFileSync } from 'node:fs'
import {
  type CountersOptions,
  type Duration,
  InvalidArgumentError,
  type DatabaseCountersOptions,
} from 'perilune'
import { type Environment, StartError } from '../process/environment.ts'
import { DEFAULT_TENANT, namedBy } from '../http/requests/tenant.ts'
import { type DatabaseUrl, readDatabaseUrl } from './database-url.ts'
import { msOf } from '../process/duration.ts'
import {
  type EntryEvents,
  flawOf,
  type GivenEntry,
  modeOf,
  type EntryOutbox,
  type EntryTarget,
} from './entry-schema.ts'

interface Owned {
  /** Name of the entry in PERILUNE_COUNTERS. */
  readonly key: string
  /** The tenant that sees them; null: none does. */
  readonly project: string | null
  /** The name that the tenant uses. */
  readonly called: string
  /** The name in the library. */
  readonly name: string
  readonly database: DatabaseUrl
  /** Null: another process flushes. */
  readonly flushEvery: Duration | null
}

/** The counting options of an entry. */
type Counting =
  | {
      readonly mode: 'sink'
      readonly target: EntryTarget
      readonly options: Omit<CountersOptions, 'sink' | 'onLoss'>
    }
  | { readonly mode: 'events'; readonly events: EntryEvents; readonly options: DatabaseCountersOptions }
  | { readonly mode: 'outbox'; readonly outbox: EntryOutbox; readonly options: DatabaseCountersOptions }

export type CountersEntry = Owned & Counting

const SETTING = 'PERILUNE_COUNTERS'
const DAY_MS = 86_400_000
const OWN_COLUMNS = { sqlite: [], postgres: ['tx'], mysql: ['counted', 'key'] } as const

/** Throws StartError, which never repeats values of an entry. */
export function readCountersEntries(environment: Environment): readonly CountersEntry[] {
  const entries = Object.entries(readObject(environment[SETTING] ?? ''))
  const read = entries.map(([key, given]) => readEntry(key, given))
  for (const [at, { key, name }] of read.entries()) {
    const before = read.slice(0, at).find((other) => other.name === name)
    if (before !== undefined) throw wrong(key, ` has the same name as ${before.key}: give one another name`)
  }
  return read
}

function wrong(key: string, flaw: string): StartError {
  return new StartError(`${SETTING}: ${key}${flaw}`)
}

/** The result of `work`. Throws StartError if the library rejects an entry. */
export function checked<Result>(key: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw error instanceof InvalidArgumentError ? wrong(key, `.${error.message}`) : error
  }
}

function readObject(setting: string): object {
  if (setting === '') return {}
  const isText = setting.trimStart().startsWith('{')
  const where = isText ? SETTING : `the file ${setting} of ${SETTING}`
  const text = isText ? setting : readText(setting)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The message of the parser repeats a part of the text.
    throw new StartError(`${where} is not valid JSON`)
  }
  throw new StartError(`${where} must be an object of names, each with its database and table`)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as { code?: string }
    throw new StartError(`${SETTING} must be a file that can be read, or JSON: ${file} (${code})`)
  }
}

function readEntry(key: string, value: unknown): CountersEntry {
  const flaw = flawOf(value)
  if (flaw !== null) throw wrong(key, flaw)
  const given = value as GivenEntry
  const { flushEvery = '1s', project = DEFAULT_TENANT, name = key } = given
  const database = readDatabaseUrl(given.database)
  if (typeof database === 'string') throw wrong(key, `.database ${database}`)
  return {
    key,
    project,
    called: name,
    name: project === null ? name : checked(key, () => namedBy(project, name)),
    database,
    flushEvery: flushEvery === false ? null : checkInterval(key, flushEvery),
    ...countingOf(key, database.kind, given),
  }
}

function countingOf(key: string, kind: DatabaseUrl['kind'], given: GivenEntry): Counting {
  const { table, id, value, missing, rowLevelSecurity, events, outbox } = given
  const { partitions, batchSize, mostDirty, retention, idempotencyTtl, fsyncGrace } = given
  const mode = modeOf(given)
  if (mode === 'sink') {
    const target = defined({ table, id, value, missing, rowLevelSecurity }) as EntryTarget
    return {
      mode,
      target,
      options: defined({ partitions, batchSize, mostDirty, retention, idempotencyTtl, fsyncGrace }),
    }
  }
  const options = defined({ partitions, batchSize, retention })
  return mode === 'events'
    ? { mode, events: checkColumns(key, kind, events as EntryEvents), options }
    : { mode, outbox: outbox as EntryOutbox, options }
}

/** Databases mark counted rows in different columns. */
function checkColumns(key: string, kind: DatabaseUrl['kind'], events: EntryEvents): EntryEvents {
  const own: readonly string[] = OWN_COLUMNS[kind]
  const foreign = Object.values(OWN_COLUMNS)
    .flat()
    .find((member) => member in events && !own.includes(member))
  if (foreign === undefined) return events
  const right = own.length === 0 ? 'no column of that kind' : own.join(', ')
  throw wrong(key, `.events.${foreign} is for another database: ${kind} has ${right}`)
}

/** A timer is limited to a few weeks. */
function checkInterval(key: string, every: Duration): Duration {
  const ms = msOf(every)
  if (ms < 10 || ms > DAY_MS) throw wrong(key, '.flushEvery must be between 10ms and 1d')
  return every
}

/** Only the members that are defined. */
function defined<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>
  }
}
