// The types that ids may have; an id that cannot be in its column stops no others.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { makeVotes, postgresAlone, read, recount, rollUp, rollUpAll, VOTES } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, makeTables, stored, WORDS } from './fixture.ts'
import {
  openMariadb,
  openPostgres as openPostgresOf,
  openSqlite,
  type Place,
  type PostgresPlace,
} from './places.ts'

const openPostgres = postgresAlone()

const SERVERS = [
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
]

async function expectRefusal(place: Place, type: string, described: string): Promise<void> {
  await makeVotes(place, `, ref ${type}`)
  await place.run(`CREATE TABLE odd (id ${type} NOT NULL UNIQUE, votes BIGINT)`)
  const target = { ...ITEMS, table: 'odd' }
  const refusal = (column: string) => ({
    code: 'sink-misconfigured',
    message: `the column ${column} is ${described}`,
  })

  await expect(place.sink(target).prepare()).rejects.toMatchObject(refusal('id of odd'))
  await expect(place.outbox(target).prepare()).rejects.toMatchObject(refusal('id of odd'))
  await expect(place.events({ ...VOTES, target }).prepare()).rejects.toMatchObject(refusal('id of odd'))
  await expect(place.events({ ...VOTES, id: 'ref' }).prepare()).rejects.toMatchObject(refusal('ref of votes'))
}

const PLAIN_TEXTS = 'integers, text in UTF8, LATIN1 or SQL_ASCII, or uuid'

test.each(['numeric', 'date', 'timestamp with time zone', 'boolean', 'mood', 'bytea', 'double precision'])(
  'PostgreSQL rejects ids of %s',
  async (type) => {
    const place = await openPostgres()
    await place.run("CREATE TYPE mood AS ENUM ('happy', 'sad')")
    await expectRefusal(place, type, `${type}, but ids must be ${PLAIN_TEXTS}`)
  },
)

const TEXTS = 'integers, text in utf8mb4, utf8, latin1 or ascii, or the uuid of MariaDB'

test.each([
  { type: 'DATE', described: 'date' },
  { type: 'DATETIME', described: 'datetime' },
  { type: 'DECIMAL(20,0)', described: 'decimal(20,0)' },
  { type: 'DOUBLE', described: 'double' },
  { type: 'BINARY(16)', described: 'binary(16)' },
  { type: 'VARBINARY(40)', described: 'varbinary(40)' },
  { type: "ENUM('a','b')", described: "enum('a','b') in utf8mb4" },
  { type: 'INET6', described: 'inet6' },
  { type: 'VARCHAR(40) CHARACTER SET latin2', described: 'varchar(40) in latin2' },
])('MariaDB rejects ids of $type', async ({ type, described }) => {
  await expectRefusal(await openMariadb(), type, `${described}, but ids must be ${TEXTS}`)
})

test.each([
  ['REAL', 'REAL'],
  ['NUMERIC', 'NUMERIC'],
  ['DATE', 'DATE'],
  ['BLOB', 'BLOB'],
  ['', 'of no type'],
])("SQLite rejects ids of '%s'", async (type, described) => {
  await expectRefusal(await openSqlite(), type, `${described}, but ids must be INTEGER, TEXT or UUID`)
})

const [ONE, TWO] = ['0190163d-8694-739b-aea5-966c26f8ad91', 'f190163d-8694-739b-aea5-966c26f8ad92']
const ODD = ['abc', ONE.toUpperCase(), ONE.replaceAll('-', ''), `{${ONE}}`, '']

test.each([...SERVERS, { name: 'sqlite', open: openSqlite }])(
  'one that is no uuid is reported in $name, and others are loaded and written',
  async ({ open }) => {
    const place = await open()
    await place.run('CREATE TABLE items (id uuid PRIMARY KEY, votes bigint NOT NULL)')
    const sink = place.sink(ITEMS)
    const ledger = await begin(sink)
    await sink.apply(batchOf(ledger, 1, { [ONE]: 1, [TWO]: 2 }))

    for (const id of ODD)
      await expect(sink.read(ledger, [ONE, id])).rejects.toMatchObject({ code: 'invalid-argument' })
    expect((await sink.read(ledger, [ONE, TWO])).values).toEqual(
      new Map([
        [ONE, 1n],
        [TWO, 2n],
      ]),
    )
    expect(await stored(place, 'items')).toEqual({ [ONE]: '1', [TWO]: '2' })
  },
)

test.each(SERVERS)('those that are no uuids are left out in $name, noted or rows', async ({ open }) => {
  const place = await open()
  await makeVotes(place, ', ref uuid', 'VARCHAR(40)')
  await place.run('CREATE TABLE things (id uuid PRIMARY KEY, votes bigint NOT NULL)')
  const target = { ...VOTES.target, table: 'things' }
  const [texts, uuids] = [place.events({ ...VOTES, target }), place.events({ ...VOTES, id: 'ref', target })]
  const rows = [ONE, ...ODD].map((id, at) => `('${id}', 'v${at}', '${TWO}')`)
  await place.run(`INSERT INTO votes (item, voter, ref) VALUES ${rows.join(', ')}`)

  expect(await rollUp(texts, ['abc', TWO])).toMatchObject({ events: 6 })
  expect(await stored(place, 'things')).toEqual({ [ONE]: '1' })
  await expect(texts.read('test:votes', ['abc'])).rejects.toMatchObject({ code: 'invalid-argument' })
  expect(await read(texts, ONE)).toEqual({ [ONE]: 1 })
  await recount(uuids, ['abc', TWO])
  await rollUpAll(uuids)
  expect(await read(uuids, TWO)).toEqual({ [TWO]: 6 })
})

/** In a database of this encoding. */
async function openEncoded(encoding: string): Promise<PostgresPlace> {
  const { port, run } = await openPostgres()
  await run(
    `CREATE DATABASE "${encoding}" ENCODING '${encoding}' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`,
  )
  return openPostgresOf(port, encoding)
}

test('one of characters that a database of PostgreSQL lacks is reported, and left out where it was noted', async () => {
  const place = await openEncoded('LATIN1')
  await makeVotes(place, '', 'TEXT')
  await place.run(
    "CREATE TABLE things (id TEXT PRIMARY KEY, votes BIGINT); INSERT INTO votes (item, voter) VALUES ('caf\u00e9', 'ada')",
  )
  const target = { ...ITEMS, table: 'things' }
  const [sink, votes] = [place.sink(target), place.events({ ...VOTES, target })]
  const ledger = await begin(sink)

  await expect(sink.read(ledger, ['caf\u00e9', 'snow \u2603'])).rejects.toMatchObject({
    code: 'invalid-argument',
  })
  expect(await rollUp(votes, ['snow \u2603', 'caf\u00e9'])).toMatchObject({ events: 1 })
  expect(await read(votes, 'caf\u00e9')).toEqual({ 'caf\u00e9': 1 })
})

test('PostgreSQL rejects ids of text in an encoding with unknown characters', async () => {
  await expectRefusal(await openEncoded('EUC_JP'), 'text', `text in EUC_JP, but ids must be ${PLAIN_TEXTS}`)
})

test('MariaDB distinguishes ids that end in blanks, when their columns do', async () => {
  const place = await openMariadb()
  const type = 'VARCHAR(40) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin'
  await makeVotes(place, '', type)
  await place.run(`CREATE TABLE things (id ${type} PRIMARY KEY, votes BIGINT NOT NULL)`)
  const votes = place.events({ ...VOTES, target: { ...VOTES.target, table: 'things' } })
  await place.run("INSERT INTO votes (item, voter) VALUES ('a', 'ada'), ('a ', 'bob'), ('a ', 'cyd')")

  expect(await read(votes, 'a', 'a ')).toEqual({ a: 1, 'a ': 2 })
  await rollUp(votes)
  expect(await stored(place, 'things')).toEqual({ a: '1', 'a ': '2' })
  await recount(votes, ['a', 'a '])
  expect(await stored(place, 'things')).toEqual({ a: '1', 'a ': '2' })
})

/** latin1 has one of them, ascii none, and both store `?` for the others. */
const WIDE = ['snow \u2603', '\u0141\u00f3d\u017a', '\u00e9', '\u{1f318}', '?']
const each = (value: bigint) => new Map(WIDE.map((id) => [id, value]))

describe.each(['latin1', 'ascii'])('when a connection of MariaDB has the characters of %s', (charset) => {
  test.each(['create', 'refuse'] as const)('ids are loaded and written unchanged (%s)', async (missing) => {
    const place = await openMariadb()
    await place.run(`CREATE TABLE words (id VARCHAR(40) COLLATE utf8mb4_bin PRIMARY KEY, votes BIGINT,
      number BIGINT AUTO_INCREMENT UNIQUE)`)
    for (const id of WIDE) await place.run(`INSERT INTO words (id, votes) VALUES ('${id}', 10)`)
    const sink = place.sinkAfter(`SET NAMES ${charset}`, { ...WORDS, missing })
    const ledger = await begin(sink)

    expect((await sink.read(ledger, WIDE)).values).toEqual(each(10n))
    const changes = Object.fromEntries(WIDE.map((id) => [id, 1]))
    expect(await sink.apply(batchOf(ledger, 1, changes))).toBe('applied')
    expect((await sink.read(ledger, WIDE)).values).toEqual(each(11n))
  })

  test('a refused change is reported by its id, and tried again', async () => {
    const place = await openMariadb()
    await makeTables(place)
    const sink = place.sinkAfter(`SET NAMES ${charset}`, { ...WORDS, missing: 'refuse' })
    const ledger = await begin(sink)
    const [id = ''] = WIDE
    await sink.apply(batchOf(ledger, 1, { [id]: 1 }))

    expect(await sink.refused?.(ledger.counters)).toMatchObject([{ id, delta: 1n }])
    await place.run(`INSERT INTO words VALUES ('${id}', 1)`)
    expect(await sink.retryRefused?.(ledger.counters)).toBe(false)
    expect((await sink.read(ledger, [id])).values).toEqual(new Map([[id, 2n]]))
  })

  test('rows are counted for their own ids', async () => {
    const place = await openMariadb()
    await makeVotes(place, '', 'VARCHAR(40) COLLATE utf8mb4_bin')
    for (const id of WIDE) await place.run(`INSERT INTO votes (item, voter) VALUES ('${id}', UUID())`)
    const target = { ...VOTES.target, table: 'words' }
    const votes = place.eventsAfter(`SET NAMES ${charset}`, { ...VOTES, target })
    const counts = async () => (await votes.read('test:votes', WIDE)).values

    expect(await counts()).toEqual(each(1n))
    await rollUpAll(votes)
    expect(await counts()).toEqual(each(1n))
    await recount(votes, WIDE)
    expect(await counts()).toEqual(each(1n))
    expect(Object.keys(await stored(place, 'words')).toSorted()).toEqual(WIDE.toSorted())
  })
})

const FOLDED = {
  sqlite: { folds: 'TEXT COLLATE NOCASE', keeps: 'TEXT' },
  postgres: { folds: 'public.citext', keeps: 'TEXT' },
  mariadb: { folds: 'VARCHAR(40)', keeps: 'VARCHAR(40) COLLATE utf8mb4_bin' },
} as const

/** Votes of `ada`, two of `Ada` and four of `bob`, whose ids are of one kind, and things, whose ids are of another. */
async function foldedVotes(
  open: () => Promise<Place>,
  kinds: readonly ['folds' | 'keeps', 'folds' | 'keeps'],
) {
  const place = await open()
  if (place.name === 'postgres') await place.run('CREATE EXTENSION IF NOT EXISTS citext SCHEMA public')
  const [item, id] = kinds.map((kind) => FOLDED[place.name][kind])
  await makeVotes(place, '', item)
  await place.run(`CREATE TABLE things (id ${id} PRIMARY KEY, votes BIGINT NOT NULL)`)
  const votes = place.events({ ...VOTES, target: { ...VOTES.target, table: 'things' } })
  for (const one of ['ada', 'Ada', 'Ada', 'bob', 'bob', 'bob', 'bob'])
    await place.run(`INSERT INTO votes (item, voter) VALUES ('${one}', '${randomUUID()}')`)
  await rollUpAll(votes)
  return { place, votes }
}

const FOLDING = [...SERVERS, { name: 'sqlite', open: openSqlite }]

test.each(FOLDING)('$name: ids that are one row are counted again as that row', async ({ open }) => {
  const { place, votes } = await foldedVotes(open, ['folds', 'folds'])
  const counts = async () => Object.values(await stored(place, 'things')).toSorted()

  for (const ids of [['ada'], ['Ada'], ['ADA', 'bob'], ['ada', 'Ada', 'bob']]) {
    await recount(votes, ids)
    expect(await counts()).toEqual(['3', '4'])
  }
  for (const ids of [
    ['ada', 'Ada', 'bob'],
    ['ADA', 'bob'],
  ]) {
    await place.run('UPDATE things SET votes = 10')
    await recount(votes, ids)
    expect(await counts()).toEqual(['3', '4'])
  }
})

test.each(FOLDING)('$name: refused changes of ids that are one row count once', async ({ open }) => {
  const { place, votes } = await foldedVotes(open, ['folds', 'folds'])
  await place.run('DELETE FROM things WHERE votes = 3')
  const refused = place.events({
    ...VOTES,
    target: { ...VOTES.target, table: 'things', missing: 'refuse' },
  })
  await recount(refused, ['ada', 'Ada'])
  await place.run("INSERT INTO things VALUES ('ADA', 0)")
  await recount(votes, ['ADA', 'ada'])
  await votes.retryRefused?.('test:votes')

  expect(await stored(place, 'things')).toEqual({ ADA: '3', bob: '4' })
})

test.each(FOLDING)('$name: ids that have a row each are counted again by themselves', async ({ open }) => {
  const { place, votes } = await foldedVotes(open, ['folds', 'keeps'])
  const apart = { ada: '1', Ada: '2', bob: '4' }

  expect(await stored(place, 'things')).toEqual(apart)
  await recount(votes, ['ada', 'bob'])
  expect(await stored(place, 'things')).toEqual(apart)
  await place.run('UPDATE things SET votes = 10')
  await recount(votes, ['ada', 'Ada', 'bob'])
  expect(await stored(place, 'things')).toEqual(apart)
})
