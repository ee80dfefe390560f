// What an entry of PERILUNE_COUNTERS may say. Descriptions say what would be right.

import { type TObject, type TOptional, type TSchema, Type } from '@fastify/type-provider-typebox'
import type { Duration } from 'perilune'
import { Compile } from 'typebox/compile'
import { DATABASE_URL } from './database-url.ts'

/** What the schema lets through. */
export interface GivenEntry {
  readonly database: string
  readonly table: string
  readonly id?: string
  readonly value?: string
  readonly missing?: 'create' | 'refuse'
  readonly shards?: number
  readonly batchSize?: number
  readonly mostDirty?: number
  readonly retention?: Duration | 'forever'
  readonly rememberFor?: Duration
  readonly settle?: Duration
  readonly flushEvery?: Duration | false
  readonly project?: string | null
  readonly name?: string
}

const DURATION = '\\d+(\\.\\d+)?(ms|s|m|h|d)'
const COLUMN = '[A-Za-z_][A-Za-z0-9_$]*'

const matching = (pattern: string, right: string): TSchema =>
  Type.String({ pattern: `^${pattern}$`, description: `must be ${right}` })
const some = (pattern: string, right: string): TOptional => Type.Optional(matching(pattern, right))
const count = (most: number): TOptional =>
  Type.Optional(
    Type.Integer({ minimum: 1, maximum: most, description: `must be a whole number from 1 to ${most}` }),
  )

const flushEvery = Type.Unsafe({
  type: ['string', 'boolean'],
  pattern: `^${DURATION}$`,
  not: { const: true },
  description: "must be a duration such as '1s', or false where somebody else flushes",
})
const project = Type.Unsafe({
  type: ['string', 'null'],
  minLength: 1,
  maxLength: 256,
  description: 'must be the tenant that sees them, or null where none does',
})

const Entry: TObject = Type.Object(
  {
    database: Type.String({ description: DATABASE_URL }),
    table: matching(`${COLUMN}(\\.${COLUMN})?`, 'the name of a table, such as items or shop.items'),
    id: some(COLUMN, 'the name of the column of the key, such as id'),
    value: some(COLUMN, 'the name of the column of the count, such as votes'),
    missing: some('(create|refuse)', "'create' or 'refuse'"),
    shards: count(256),
    batchSize: count(1000),
    mostDirty: count(10_000_000),
    retention: some(`(${DURATION}|forever)`, "a duration such as '10m', or 'forever'"),
    rememberFor: some(DURATION, "a duration such as '24h'"),
    settle: some(DURATION, "a duration such as '2s'"),
    flushEvery: Type.Optional(flushEvery),
    project: Type.Optional(project),
    name: some('[^]+', 'what their tenant calls them'),
  },
  { additionalProperties: false },
)
const entry = Compile(Entry)
const MEMBERS = Object.keys(Entry.properties)

/** What is wrong with an entry, without what it says: that may be a password. Null when nothing is. */
export function flawOf(given: unknown): string | null {
  const [finding] = entry.Errors(given)
  if (finding === undefined) return null
  if (finding.keyword === 'required') {
    const [member = ''] = finding.params.requiredProperties
    return `.${member} is missing, and ${rightOf(member)}`
  }
  const [, member] = finding.instancePath.split('/')
  if (member === undefined) return ' must be an object with a database and a table'
  return MEMBERS.includes(member)
    ? `.${member} ${rightOf(member)}`
    : `.${member} is not known; there are ${MEMBERS.join(', ')}`
}

function rightOf(member: string): string {
  return String(Object(Entry.properties[member]).description)
}
