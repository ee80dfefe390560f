import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { StartError } from '../process/environment.ts'
import { type CountersEntry, readCountersEntries } from './entry.ts'

const PLACE = { database: 'sqlite:/var/shop.db', table: 'items' }

const EVENTS = { table: 'votes', id: 'item', target: { table: 'items' } }
const ROWS = { database: PLACE.database, events: EVENTS }

const read = (counters: unknown): readonly CountersEntry[] =>
  readCountersEntries({
    PERILUNE_COUNTERS: typeof counters === 'string' ? counters : JSON.stringify(counters),
  })

function failureOf(counters: unknown): string {
  try {
    read(counters)
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    return (error as Error).message
  }
  throw new Error('it was accepted')
}

test('an empty environment means no counters', () => {
  expect(readCountersEntries({})).toEqual([])
  expect(read({})).toEqual([])
})

test('a minimal entry belongs to the default tenant and is flushed every second', () => {
  expect(read({ votes: PLACE })).toEqual([
    {
      key: 'votes',
      project: 'default',
      called: 'votes',
      name: 'v1:default/votes',
      database: { kind: 'sqlite', url: PLACE.database },
      mode: 'sink',
      target: { table: 'items' },
      options: {},
      flushEvery: '1s',
    },
  ])
})

test('an entry names its tenant, its columns, how it counts and who flushes', () => {
  const options = {
    partitions: 16,
    retention: 'forever',
    idempotencyTtl: '1h',
    batchSize: 10,
    mostDirty: 99,
    fsyncGrace: '0s',
  }
  const target = {
    table: 'shop.items',
    id: 'key',
    value: 'likes',
    missing: 'refuse',
    rowLevelSecurity: 'allow',
  }
  const database = 'postgres://ada:s3cr3t@db/shop?sslmode=require'
  const given = { database, ...target, ...options, project: 'shop/1', name: 'likes', flushEvery: false }

  expect(read({ 'likes-of-shop': given })).toEqual([
    {
      key: 'likes-of-shop',
      project: 'shop/1',
      called: 'likes',
      name: 'v1:shop%2F1/likes',
      database: { kind: 'postgres', url: database },
      mode: 'sink',
      target,
      options,
      flushEvery: null,
    },
  ])
})

test('an entry with events counts rows, and one with an outbox changes of transactions', () => {
  const events = {
    ...EVENTS,
    amount: 'points',
    at: 'made',
    tx: 'by',
    target: { ...EVENTS.target, id: 'key' },
  }
  const outbox = { table: 'items', value: 'stock', missing: 'refuse', idempotencyTtl: '48h' }
  const shown = { partitions: 4, retention: '1h', batchSize: 10_000 }
  const database = 'postgres://db/shop'

  expect(
    read({ votes: { database, events, ...shown }, stock: { database, outbox, flushEvery: false } }),
  ).toMatchObject([
    { mode: 'events', name: 'v1:default/votes', events, options: shown, flushEvery: '1s' },
    { mode: 'outbox', name: 'v1:default/stock', outbox, options: {}, flushEvery: null },
  ])
})

test('counters of an application, which no tenant sees, keep their name', () => {
  expect(read({ votes: { ...PLACE, project: null } })).toMatchObject([{ project: null, name: 'votes' }])
})

test('the same name of two tenants is two sets of counters', () => {
  const both = { a: { ...PLACE, name: 'votes' }, b: { ...PLACE, name: 'votes', project: 'bob' } }
  expect(read(both).map(({ name }) => name)).toEqual(['v1:default/votes', 'v1:bob/votes'])
})

test.each([
  ['sqlite:///var/shop.db', 'sqlite'],
  ['sqlite:shop.db', 'sqlite'],
  ['postgres://db/shop', 'postgres'],
  ['postgresql://ada@db:5433/shop', 'postgres'],
  ['mysql://ada:p%40ss@db/shop', 'mysql'],
  ['mariadb://db/shop', 'mysql'],
])('%s is a database of %s', (database, kind) => {
  expect(read({ votes: { ...PLACE, database } })[0]?.database.kind).toBe(kind)
})

test('a file may contain the entries', () => {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-entries-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'counters.json')
  writeFileSync(file, JSON.stringify({ votes: PLACE }))

  expect(read(file)).toEqual(read({ votes: PLACE }))

  writeFileSync(file, '{"votes": {"database": "postgres://ada:s3cr3t@db/shop",}}')
  expect(failureOf(file)).toBe(`the file ${file} of PERILUNE_COUNTERS is not valid JSON`)
  expect(failureOf(join(folder, 'none.json'))).toMatch(/^PERILUNE_COUNTERS must be a file .*\(ENOENT\)$/)
})

test('the entries that the docs show are accepted', () => {
  const page = readFileSync(new URL('../../docs/http/counters.md', import.meta.url), 'utf8')
  const shown = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].flatMap(([, text = '']) => read(text))
  expect(shown.map(({ mode }) => mode)).toEqual(['sink', 'events', 'outbox', 'sink'])
})

const DURATION = "must be a duration such as '"
test.each([
  [{ votes: 7 }, 'votes must be an object with a database and a table'],
  [{ votes: { table: 'items' } }, 'votes.database is missing, and must be sqlite:/path/file.db, '],
  [{ votes: { database: 'sqlite:x' } }, 'votes.table is missing, and must be the name of a table'],
  [{ votes: { ...PLACE, tables: 'x' } }, 'votes.tables is not known; known are database, table, id'],
  [{ votes: { ...PLACE, database: 'sqlite:' } }, 'votes.database must be sqlite:/path/file.db, '],
  [{ votes: { ...PLACE, database: 'redis://:s3cr3t@db' } }, 'votes.database must be sqlite:/path/file.db, '],
  [{ votes: { ...PLACE, database: 's3cr3t' } }, 'votes.database must be sqlite:/path/file.db, '],
  [
    { votes: { ...PLACE, database: 'mysql://a:12/s3cr3t@db/x' } },
    'votes.database must have / ? # % and @ of',
  ],
  [{ votes: { ...PLACE, database: 'mysql://a:%s3cr3t@db/x' } }, 'votes.database must have / ? # % and @ of'],
  [{ votes: { ...PLACE, table: 'items; --' } }, 'votes.table must be the name of a table'],
  [{ votes: { ...PLACE, id: 'a.b' } }, 'votes.id must be the name of the column of the key'],
  [{ votes: { ...PLACE, value: 1 } }, 'votes.value must be the name of the column of the count'],
  [{ votes: { ...PLACE, missing: 'make' } }, "votes.missing must be 'create' or 'refuse'"],
  [{ votes: { ...PLACE, rowLevelSecurity: true } }, "votes.rowLevelSecurity must be 'refuse' or 'allow'"],
  [{ votes: { ...PLACE, partitions: 257 } }, 'votes.partitions must be a whole number from 1 to 256'],
  [{ votes: { ...PLACE, batchSize: 0 } }, 'votes.batchSize must be a whole number from 1 to 1000'],
  [{ votes: { ...PLACE, retention: 'ever' } }, `votes.retention ${DURATION}10m', or 'forever'`],
  [{ votes: { ...PLACE, idempotencyTtl: 3600 } }, `votes.idempotencyTtl ${DURATION}24h'`],
  [{ votes: { ...PLACE, fsyncGrace: '2 s' } }, `votes.fsyncGrace ${DURATION}2s'`],
  [{ votes: { ...PLACE, flushEvery: true } }, `votes.flushEvery ${DURATION}1s', or false`],
  [{ votes: { ...PLACE, flushEvery: '0s' } }, 'votes.flushEvery must be between 10ms and 1d'],
  [{ votes: { ...PLACE, flushEvery: '30d' } }, 'votes.flushEvery must be between 10ms and 1d'],
  [{ votes: { ...PLACE, project: '' } }, 'votes.project must be the tenant that sees them, or null'],
  [{ votes: { ...PLACE, name: '' } }, 'votes.name must be the name that their tenant uses'],
  [{ votes: { ...PLACE, name: 'x'.repeat(600) } }, 'votes.name must be at most'],
  [{ votes: { ...ROWS, events: 7 } }, 'votes.events must be an object with a table, an id and a target'],
  [
    { votes: { ...ROWS, events: { table: 'votes', target: { table: 'items' } } } },
    'votes.events.id is missing, and must be the name of the column with the id of the counter',
  ],
  [
    { votes: { ...ROWS, events: { ...EVENTS, target: {} } } },
    'votes.events.target.table is missing, and must be the name of a table, such as items',
  ],
  [{ votes: { ...ROWS, events: { ...EVENTS, table: 'a b' } } }, 'votes.events.table must be the name of a'],
  [
    { votes: { ...ROWS, events: { ...EVENTS, points: 'p' } } },
    'votes.events.points is not known; known are table, id, amount, at, tx, counted, key, target',
  ],
  [
    { votes: { ...ROWS, events: { ...EVENTS, tx: 'tx' } } },
    'votes.events.tx is for another database: sqlite has no column of that kind',
  ],
  [
    { votes: { database: 'mysql://db/x', events: { ...EVENTS, tx: 'tx' } } },
    'votes.events.tx is for another database: mysql has counted, key',
  ],
  [
    { votes: { ...ROWS, fsyncGrace: '2s' } },
    'votes.fsyncGrace is not known; known are database, events, partitions, ',
  ],
  [
    { votes: { ...ROWS, table: 'items' } },
    'votes.table is not known; known are database, events, partitions, ',
  ],
  [{ votes: { ...ROWS, outbox: {} } }, 'votes.outbox is not known; known are database, events, partitions, '],
  [{ votes: { ...ROWS, batchSize: 10_001 } }, 'votes.batchSize must be a whole number from 1 to 10000'],
  [{ votes: { database: 'sqlite:x', outbox: {} } }, 'votes.outbox.table is missing, and must be the name of'],
  [
    { votes: { database: 'sqlite:x', outbox: { table: 'items', idempotencyTtl: 1 } } },
    `votes.outbox.idempotencyTtl ${DURATION}24h'`,
  ],
  [{ a: PLACE, b: { ...PLACE, name: 'a' } }, 'b has the same name as a'],
])('%j is rejected in a line that names the entry and what would be right', (counters, expected) => {
  const message = failureOf(counters)
  expect(message).toContain(`PERILUNE_COUNTERS: ${expected}`)
  expect(message).not.toMatch(/s3cr3t|\n/)
})

test('a value that is not an object of entries is rejected without being repeated', () => {
  expect(failureOf('{"votes": s3cr3t}')).toBe('PERILUNE_COUNTERS is not valid JSON')
})
