// The effect of columns on ids: types, collations, lengths, rights.
import { expect, test } from 'vitest'
import { MYSQL_COUNTS } from '../../src/sinks/mysql/counts.ts'
import { MYSQL } from '../../src/sinks/mysql/dialect.ts'
import { makeVotes, VOTES } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, makeTables, stored, WORDS } from './fixture.ts'
import { openMariadb, openPostgres } from './places.ts'

test.each([
  { type: 'uuid', id: '0190163d-8694-739b-aea5-966c26f8ad91' },
  { type: 'char(8)', id: 'abcdefgh' },
  { type: 'varchar(8)', id: 'zwölf🌘🌘🌘' },
  { type: 'smallint', id: '-32768' },
  { type: 'name', id: 'zwölf 🌘' },
  { type: 'citext', id: 'Any Case' },
  { type: 'short_text', id: 'domain' },
])('PostgreSQL accepts keys of $type', async ({ type, id }) => {
  const place = await openPostgres()
  await place.run('CREATE DOMAIN short_text AS varchar(8)')
  if (type === 'citext') await place.run('CREATE EXTENSION IF NOT EXISTS citext')
  await place.run(`CREATE TABLE items (id ${type} PRIMARY KEY, votes bigint NOT NULL)`)
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  await sink.apply(batchOf(ledger, 1, { [id]: 4 }))
  await sink.apply(batchOf(ledger, 2, { [id]: 5 }))

  expect((await sink.read(ledger, [id])).values).toEqual(new Map([[id, 9n]]))
  expect(await stored(place, 'items')).toEqual({ [id]: '9' })
})

test.each(['create', 'refuse'] as const)('PostgreSQL sums ids that are one key (%s)', async (missing) => {
  const place = await openPostgres()
  await place.run('CREATE TABLE items (id char(4) PRIMARY KEY, votes bigint NOT NULL)')
  await place.run("INSERT INTO items VALUES ('a', 10)")
  const sink = place.sink({ ...ITEMS, missing })
  const ledger = await begin(sink)

  await sink.apply(batchOf(ledger, 1, { a: 1, 'a ': 2 }))

  expect((await sink.read(ledger, ['a', 'a '])).values).toEqual(
    new Map([
      ['a', 13n],
      ['a ', 13n],
    ]),
  )
})

test('PostgreSQL finds tables of a schema, and names in upper case', async () => {
  const place = await openPostgres()
  const [row] = await place.run('SELECT current_schema() AS schema')
  await place.run('CREATE TABLE "Items" ("itemId" bigint UNIQUE, "voteCount" bigint NOT NULL)')
  const sink = place.sink({ table: `${String(row?.['schema'])}.Items`, id: 'itemId', value: 'voteCount' })
  const ledger = await begin(sink)

  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')

  await expect(place.sink({ table: 'items' }).prepare()).rejects.toThrow('the table items does not exist')
})

test('PostgreSQL rejects a partial index, and a count of 32 bits', async () => {
  const place = await openPostgres()
  await place.run('CREATE TABLE items (id bigint, votes bigint, small integer)')
  await place.run('CREATE UNIQUE INDEX ON items (id) WHERE votes > 0')

  await expect(place.sink(ITEMS).prepare()).rejects.toThrow('no unique index of its own')

  await place.run('CREATE UNIQUE INDEX ON items (id)')
  await place.sink(ITEMS).prepare()
  await expect(place.sink({ ...ITEMS, value: 'small' }).prepare()).rejects.toThrow(
    'small of items is integer',
  )
})

test('PostgreSQL needs no right to create tables once the ledger exists', async () => {
  const place = await openPostgres()
  await makeTables(place)
  await place.sink(ITEMS).prepare()
  const sink = await place.sinkOfApplication(ITEMS)

  const ledger = await begin(sink)
  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')

  const words = await place.sinkOfApplication(WORDS)
  await expect(words.apply(batchOf(ledger, 2, { one: 1 }))).rejects.toMatchObject({
    code: 'sink-misconfigured',
    message: expect.stringContaining('permission denied'),
  })
})

test('MariaDB needs no right to create tables once the ledger exists', async () => {
  const place = await openMariadb()
  await makeTables(place)
  await place.sink(ITEMS).prepare()
  const sink = await place.sinkOfApplication(ITEMS)

  const ledger = await begin(sink)
  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')

  const words = await place.sinkOfApplication(WORDS)
  await expect(words.read(ledger, [])).rejects.toMatchObject({ code: 'sink-misconfigured' })
})

test.each(['create', 'refuse'] as const)('MariaDB sums ids that are one key (%s)', async (missing) => {
  const place = await openMariadb()
  await makeTables(place)
  await place.run("INSERT INTO words VALUES ('bob', 10)")
  const sink = place.sink({ ...WORDS, missing })
  const ledger = await begin(sink)

  await sink.apply(batchOf(ledger, 1, { bob: 1, Bob: 2 }))

  expect((await sink.read(ledger, ['bob', 'Bob', 'BOBBY'])).values).toEqual(
    new Map([
      ['bob', 13n],
      ['Bob', 13n],
    ]),
  )
})

test('MariaDB is queried about one table, however many others there are', async () => {
  const place = await openMariadb()
  await makeVotes(place)
  const asked = [
    MYSQL.find([undefined, 'votes']),
    MYSQL.columns([undefined, 'votes']),
    MYSQL.columns([place.schema, 'votes']),
    MYSQL_COUNTS.suits({
      ...MYSQL_COUNTS.eventsOf(VOTES),
      found: { schema: place.schema, name: 'votes', location: place.schema },
    }).asked,
  ]

  for (const { sql } of asked) {
    expect(await place.run(sql)).not.toEqual([])
    const steps = await place.run(`EXPLAIN ${sql}`)
    expect(steps.flatMap(({ Extra }) => /Scanned [^;]*/.exec(String(Extra)) ?? [])).not.toEqual([])
    expect(steps.filter(({ Extra }) => /Scanned (?!0 databases)/.test(String(Extra)))).toEqual([])
  }
})

test('MariaDB rejects a table without transactions, and a view', async () => {
  const place = await openMariadb()
  await makeTables(place)
  await place.run('ALTER TABLE items ENGINE=MyISAM')
  await place.run('CREATE VIEW seen AS SELECT * FROM words')

  await expect(place.sink(ITEMS).prepare()).rejects.toMatchObject({
    code: 'sink-misconfigured',
    message: 'the table items has no transactions, for it is of MyISAM',
  })
  await expect(place.sink({ ...ITEMS, table: 'seen' }).prepare()).rejects.toThrow(
    'no unique index of its own',
  )
})

test('MariaDB does not count for a row that is found by another unique column', async () => {
  const place = await openMariadb()
  await place.run(
    "CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT, slug VARCHAR(9) UNIQUE DEFAULT '')",
  )
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)
  await sink.apply(batchOf(ledger, 1, { 1: 1 }))

  expect(await sink.apply(batchOf(ledger, 2, { 1: 1, 2: 5 }))).toMatchObject({
    refused: [{ id: '2', delta: 5n }],
  })

  expect(await stored(place, 'items')).toEqual({ 1: '2' })
})

test.each(['create', 'refuse'] as const)('MariaDB accepts ZEROFILL keys (%s)', async (missing) => {
  const place = await openMariadb()
  await place.run('CREATE TABLE items (id INT(8) ZEROFILL PRIMARY KEY, votes BIGINT NOT NULL)')
  await place.run('INSERT INTO items VALUES (7, 1), (8, 1), (9, 1)')
  const sink = place.sink({ ...ITEMS, missing })
  const ledger = await begin(sink)

  await sink.apply(batchOf(ledger, 1, { 7: 2, 8: -3 }))

  expect((await sink.read(ledger, ['7', '8'])).values).toEqual(
    new Map([
      ['7', 3n],
      ['8', -2n],
    ]),
  )
  expect(await stored(place, 'items')).toEqual({ 7: '3', 8: '-2', 9: '1' })
})

test.each(['NO_BACKSLASH_ESCAPES', 'ANSI_QUOTES', ''])(
  'MariaDB keeps ids unchanged in sql_mode %j',
  async (mode) => {
    const place = await openMariadb()
    await makeTables(place)
    const sink = place.sinkAfter(`SET sql_mode = '${mode}'`, WORDS)
    const ledger = await begin(sink)
    const ids = [`\\' OR 1=1 -- `, '"', "''", '\\']

    await sink.apply(batchOf(ledger, 1, Object.fromEntries(ids.map((id) => [id, 1]))))

    expect(await stored(place, 'words')).toEqual(Object.fromEntries(ids.map((id) => [id, '1'])))
    expect((await sink.read(ledger, ids)).values.size).toBe(ids.length)
  },
)

test.each([
  { type: 'VARCHAR(3)', id: 'four', problem: 'must have at most 3 characters' },
  { type: 'VARCHAR(9) CHARACTER SET latin1', id: 'Łódź', problem: 'must only have characters of latin1' },
  { type: 'VARCHAR(9) CHARACTER SET utf8mb3', id: '🌘', problem: 'must only have characters of utf8mb3' },
  { type: 'VARCHAR(9) CHARACTER SET latin1', id: '\u0085', problem: 'must only have characters of latin1' },
  { type: 'VARCHAR(9) CHARACTER SET ascii', id: 'é', problem: 'must only have characters of ascii' },
  { type: 'UUID', id: 'abc', problem: 'must be a uuid in lower case, in groups of 8-4-4-4-12' },
  { type: 'INT UNSIGNED', id: '-1', problem: 'must be an integer from 0 to 4294967295' },
  { type: 'TINYINT', id: '128', problem: 'must be an integer from -128 to 127' },
])('MariaDB rejects $id for $type before it is counted', async ({ type, id, problem }) => {
  const place = await openMariadb()
  await place.run(`CREATE TABLE items (id ${type} PRIMARY KEY, votes BIGINT)`)
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  await expect(sink.read(ledger, [id])).rejects.toThrow(`id ${problem}`)
})

test.each([
  { type: 'varchar(3)', id: 'four', problem: 'must have at most 3 characters' },
  { type: 'short_text', id: 'nine chars', problem: 'must have at most 8 characters' },
  { type: 'uuid', id: 'abc', problem: 'must be a uuid in lower case, in groups of 8-4-4-4-12' },
  { type: 'uuid', id: '0190163D-8694-739B-AEA5-966C26F8AD91', problem: 'must be a uuid in lower case' },
  { type: 'uuid', id: '{0190163d-8694-739b-aea5-966c26f8ad91}', problem: 'must be a uuid in lower case' },
  { type: 'name', id: 'ö'.repeat(32), problem: 'must have at most 63 bytes' },
  { type: 'text', id: 'a\0b', problem: 'must not have U+0000' },
  { type: 'integer', id: '2147483648', problem: 'must be an integer from -2147483648 to 2147483647' },
])('PostgreSQL rejects $id for $type before it is counted', async ({ type, id, problem }) => {
  const place = await openPostgres()
  await place.run('CREATE DOMAIN short_text AS varchar(8)')
  await place.run(`CREATE TABLE items (id ${type} PRIMARY KEY, votes bigint)`)
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  await expect(sink.read(ledger, [id])).rejects.toThrow(`id ${problem}`)
})
