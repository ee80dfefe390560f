// The schema of an entry of PERILUNE_COUNTERS. Descriptions say what would be right.

import {
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  Type,
} from '@fastify/type-provider-typebox'
import type { Duration } from 'perilune'
import type { mysqlEvents } from 'perilune/mysql'
import type { postgresEvents, postgresOutbox } from 'perilune/postgres'
import type { sqlite } from 'perilune/sqlite'
import { Compile, type Validator } from 'typebox/compile'
import { DATABASE_URL } from './database-url.ts'

export type EntryTarget = Parameters<typeof sqlite>[1]
/** With the columns of every database; an entry only has those of its own. */
export type EntryEvents = Parameters<typeof postgresEvents>[1] & Parameters<typeof mysqlEvents>[1]
export type EntryOutbox = Parameters<typeof postgresOutbox>[1]

/** The members that the schema accepts, of each mode. */
export interface GivenEntry extends Partial<EntryTarget> {
  readonly database: string
  readonly events?: EntryEvents
  readonly outbox?: EntryOutbox
  readonly partitions?: number
  readonly batchSize?: number
  readonly mostDirty?: number
  readonly retention?: Duration | 'forever'
  readonly idempotencyTtl?: Duration
  readonly fsyncGrace?: Duration
  readonly flushEvery?: Duration | false
  readonly project?: string | null
  readonly name?: string
}

export type Mode = 'sink' | 'events' | 'outbox'

const DURATION = '\\d+(\\.\\d+)?(ms|s|m|h|d)'
const COLUMN = '[A-Za-z_][A-Za-z0-9_$]*'

const matching = (pattern: string, right: string): TSchema =>
  Type.String({ pattern: `^${pattern}$`, description: `must be ${right}` })
const some = (pattern: string, right: string): TOptional => Type.Optional(matching(pattern, right))
const column = (what: string): TOptional => some(COLUMN, `the name of the column of ${what}`)
const count = (most: number): TOptional =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `must be a whole number from 1 to ${most}` }),
  )
const object = (properties: TProperties, right: string): TObject =>
  Type.Object(properties, { additionalProperties: false, description: `must be an object with ${right}` })

const flushEvery = Type.Unsafe({
  type: ['string', 'boolean'],
  pattern: `^${DURATION}$`,
  not: { const: true },
  description: "must be a duration such as '1s', or false if another process flushes",
})
const project = Type.Unsafe({
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 256,
  description: 'must be the tenant that sees them, or null for none',
})
const idempotencyTtl = some(DURATION, "a duration such as '24h'")
const table = (example: string): TSchema =>
  matching(`${COLUMN}(\\.${COLUMN})?`, `the name of a table, such as ${example} or shop.${example}`)

const TARGET = {
  table: table('items'),
  id: column('the key, such as id'),
  value: column('the count, such as votes'),
  missing: some('(create|refuse)', "'create' or 'refuse'"),
  rowLevelSecurity: some('(refuse|allow)', "'refuse' or 'allow'"),
}
const EVENTS = {
  table: table('votes'),
  id: matching(COLUMN, 'the name of the column with the id of the counter, such as item_id'),
  amount: column('the number to add, such as points'),
  at: column('the time of a row, such as created_at'),
  tx: column('the transaction of a row, such as tx'),
  counted: column('whether a row was counted, such as counted'),
  key: column('the key, such as id'),
  target: object(TARGET, 'a table'),
}
const database = Type.String({ description: DATABASE_URL })
const retention = some(`(${DURATION}|forever)`, "a duration such as '10m', or 'forever'")
const OWNER = {
  flushEvery: Type.Optional(flushEvery),
  project: Type.Optional(project),
  name: some('[^]+', 'the name that their tenant uses'),
}
const SHOWN = { partitions: count(256), batchSize: count(10_000), retention, ...OWNER }
const RIGHT = 'a database and a table, events or an outbox'

const SCHEMAS: Readonly<Record<Mode, TObject>> = {
  sink: object(
    {
      database,
      ...TARGET,
      partitions: count(256),
      batchSize: count(1000),
      mostDirty: count(10_000_000),
      retention,
      idempotencyTtl,
      fsyncGrace: some(DURATION, "a duration such as '2s'"),
      ...OWNER,
    },
    RIGHT,
  ),
  events: object({ database, events: object(EVENTS, 'a table, an id and a target'), ...SHOWN }, RIGHT),
  outbox: object({ database, outbox: object({ ...TARGET, idempotencyTtl }, 'a table'), ...SHOWN }, RIGHT),
}
const VALIDATORS: Readonly<Record<Mode, Validator>> = {
  sink: Compile(SCHEMAS.sink),
  events: Compile(SCHEMAS.events),
  outbox: Compile(SCHEMAS.outbox),
}

/** The mode of an entry, by the members that it has. */
export function modeOf(given: unknown): Mode {
  const { events, outbox } = Object(given) as { events?: unknown; outbox?: unknown }
  if (events !== undefined) return 'events'
  return outbox === undefined ? 'sink' : 'outbox'
}

/** What is wrong with an entry, without its values, which may be passwords. Null if it is valid. */
export function flawOf(given: unknown): string | null {
  const mode = modeOf(given)
  const [finding] = VALIDATORS[mode].Errors(given)
  if (finding === undefined) return null
  const path = finding.instancePath.split('/').slice(1)
  if (finding.keyword !== 'required') return flawAt(SCHEMAS[mode], path, '')
  const [member = ''] = finding.params.requiredProperties
  return flawAt(SCHEMAS[mode], [...path, member], ' is missing, and')
}

function flawAt(root: TObject, path: readonly string[], flaw: string): string {
  let [schema, place]: [TSchema, string] = [root, '']
  for (const member of path) {
    const { properties = {} } = schema as Partial<TObject>
    place += `.${member}`
    const known = Object.hasOwn(properties, member) ? properties[member] : undefined
    if (known === undefined) return `${place} is not known; known are ${Object.keys(properties).join(', ')}`
    schema = known
  }
  return `${place}${flaw} ${String(Object(schema).description)}`
}
