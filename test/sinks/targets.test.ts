// The requirements on the table of the counts, so that a batch can be written once it is sealed.
import { describe, expect, test } from 'vitest'
import type { Column, Statement } from '../../src/sinks/sql/dialect.ts'
import { SQLITE } from '../../src/sinks/sqlite/dialect.ts'
import { makeVotes, postgresAlone, VOTES } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, stored, WORDS } from './fixture.ts'
import { openMariadb, openSqlite } from './places.ts'

const openPostgres = postgresAlone()

const TITLED = {
  code: 'sink-misconfigured',
  message:
    "the column title of titled is NOT NULL without a default, so no row can be inserted: give it a default, or set missing: 'refuse'",
}

describe.each([
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])('a target in $name', ({ open }) => {
  async function setup() {
    const place = await open()
    await makeVotes(place)
    await place.run('CREATE TABLE titled (id BIGINT PRIMARY KEY, title VARCHAR(40) NOT NULL, votes BIGINT)')
    await place.run("INSERT INTO titled VALUES (1, 'one', 10)")
    return { place, target: { ...ITEMS, table: 'titled' } }
  }

  test('names a column without which no row can be created, before anything is begun', async () => {
    const { place, target } = await setup()
    const sink = place.sink(target)

    await expect(sink.prepare()).rejects.toMatchObject(TITLED)
    await expect(sink.begin('test:titled', 0)).rejects.toMatchObject(TITLED)
    await expect(place.events({ ...VOTES, target }).prepare()).rejects.toMatchObject(TITLED)
    await expect(place.outbox(target).prepare()).rejects.toMatchObject(TITLED)
  })

  test('may have any column when no row is created', async () => {
    const { place, target } = await setup()
    const sink = place.sink({ ...target, missing: 'refuse' })
    const ledger = await begin(sink)
    await place.outbox({ ...target, missing: 'refuse' }).prepare()

    expect(await sink.apply(batchOf(ledger, 1, { 1: 1, 2: 1 }))).toMatchObject({ refused: [{ id: '2' }] })

    expect(await stored(place, 'titled')).toEqual({ 1: '11' })
  })
})

const EMPTY = "note VARCHAR(9), title VARCHAR(9) NOT NULL DEFAULT ''"

test.each([
  {
    name: 'sqlite',
    open: openSqlite,
    columns: 'n INTEGER PRIMARY KEY NOT NULL, twice BIGINT NOT NULL GENERATED ALWAYS AS (id * 2) STORED',
  },
  {
    name: 'postgres',
    open: openPostgres,
    columns: `n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, m bigserial,
      twice bigint NOT NULL GENERATED ALWAYS AS (id * 2) STORED, kind kind`,
  },
  {
    name: 'mariadb',
    open: openMariadb,
    columns: `n BIGINT AUTO_INCREMENT PRIMARY KEY, twice BIGINT GENERATED ALWAYS AS (id * 2) STORED,
      kind ENUM('a', 'b') NOT NULL, made TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP`,
  },
])('rows are created in $name when all other columns fill themselves', async ({ name, open, columns }) => {
  const place = await open()
  if (name === 'postgres') await place.run("CREATE DOMAIN kind AS text NOT NULL DEFAULT 'a'")
  await place.run(
    `CREATE TABLE items (id BIGINT UNIQUE NOT NULL, votes BIGINT NOT NULL, ${EMPTY}, ${columns})`,
  )
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  for (const seq of [1, 2]) expect(await sink.apply(batchOf(ledger, seq, { 1: 1 }))).toBe('applied')

  expect(await stored(place, 'items')).toEqual({ 1: '2' })
})

test.each([
  { name: 'sqlite', open: openSqlite, number: 'INTEGER PRIMARY KEY AUTOINCREMENT' },
  { name: 'postgres', open: openPostgres, number: 'serial PRIMARY KEY' },
  { name: 'mariadb', open: openMariadb, number: 'INT AUTO_INCREMENT PRIMARY KEY' },
  { name: 'mariadb', open: openMariadb, number: 'INT DEFAULT NEXTVAL(numbers) PRIMARY KEY' },
])('updates of existing rows of $name consume no generated key: $number', async ({ open, number }) => {
  const place = await open()
  if (number.includes('NEXTVAL')) await place.run('CREATE SEQUENCE numbers')
  await place.run(
    `CREATE TABLE words (n ${number}, id VARCHAR(40) UNIQUE NOT NULL, votes BIGINT NOT NULL DEFAULT 0)`,
  )
  const sink = place.sink(WORDS)
  const ledger = await begin(sink)

  for (const seq of [1, 2, 3]) await sink.apply(batchOf(ledger, seq, { a: 1, b: 2 }))
  await sink.apply(batchOf(ledger, 4, { a: 0, b: 1, c: 1 }))

  expect(await stored(place, 'words')).toEqual({ a: '3', b: '7', c: '1' })
  const rows = await place.run('SELECT id, n FROM words')
  expect(Object.fromEntries(rows.map(({ id, n }) => [id, Number(n)]))).toEqual({ a: 1, b: 2, c: 3 })
})

test('SQLite reads flushed values once, even when it knows the table as a small one', async () => {
  const database = (await openSqlite()).open()
  database.exec('CREATE TABLE words (id TEXT PRIMARY KEY, votes INTEGER)')
  for (const id of 'abcdefghij') database.exec(`INSERT INTO words VALUES ('${id}', 0)`)
  database.exec('ANALYZE')
  const place = {
    ...WORDS,
    id: 'id',
    missing: 'refuse' as const,
    isNumbered: false,
    found: { schema: 'main', name: 'words', location: '' },
    idColumn: {} as Column,
  }
  const planOf = ({ sql, values }: Statement): string => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
    return plan.map(({ detail }) => detail).join('\n')
  }

  const statements = [SQLITE.present(place, ['a']), ...SQLITE.change(place, [{ id: 'a', delta: 1n }])]

  for (const one of statements) expect(planOf(one as Statement)).not.toMatch(/SCAN [to]\b.*\nSCAN .* VIRTUAL/)
})

test.each([
  {
    name: 'postgres',
    open: openPostgres,
    trigger: [
      `CREATE FUNCTION entitle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.title := 't'; RETURN NEW; END $$`,
      'CREATE TRIGGER entitle BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION entitle()',
    ],
  },
  {
    name: 'mariadb',
    open: openMariadb,
    trigger: ["CREATE TRIGGER entitle BEFORE INSERT ON items FOR EACH ROW SET NEW.title = 't'"],
  },
])('a trigger of $name may fill required columns', async ({ open, trigger }) => {
  const place = await open()
  await place.run('CREATE TABLE items (id BIGINT PRIMARY KEY, title VARCHAR(9) NOT NULL, votes BIGINT)')
  for (const statement of trigger) await place.run(statement)
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')
})

test.each([
  {
    title: 'a key of several columns',
    table: '(id BIGINT UNIQUE, part BIGINT, votes BIGINT, PRIMARY KEY (id, part))',
  },
  {
    title: 'a key that is no number of the row',
    table: '(part INTEGER PRIMARY KEY, id BIGINT UNIQUE, votes BIGINT)',
  },
])('SQLite names $title when it creates none', async ({ table }) => {
  const place = await openSqlite()
  await place.run(`CREATE TABLE items ${table} WITHOUT ROWID`)

  await expect(place.sink(ITEMS).prepare()).rejects.toThrow('the column part of items is NOT NULL without a')
})

test('PostgreSQL names a domain that is NOT NULL, and a key that it alone generates', async () => {
  const place = await openPostgres()
  await place.run(`CREATE DOMAIN inner_title AS varchar(9) NOT NULL; CREATE DOMAIN title AS inner_title;
    CREATE TABLE items (id bigint PRIMARY KEY, title title, votes bigint);
    CREATE TABLE numbered (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, votes bigint);
    CREATE TABLE named (id title PRIMARY KEY, votes bigint)`)

  await expect(place.sink(ITEMS).prepare()).rejects.toThrow('the column title of items is NOT NULL without a')
  const prepared = place.sink({ ...ITEMS, table: 'numbered' }).prepare()
  await expect(prepared).rejects.toMatchObject({
    code: 'sink-misconfigured',
    message:
      "the column id of numbered is GENERATED ALWAYS, so no row can be inserted: make it BY DEFAULT, or set missing: 'refuse'",
  })
  await place.sink({ ...ITEMS, table: 'numbered', missing: 'refuse' }).prepare()
  const named = place.sink({ ...ITEMS, table: 'named' })
  const ledger = await begin(named)
  await expect(named.read(ledger, ['ten letter'])).rejects.toThrow('must have at most 9 characters')
  expect(await named.apply(batchOf(ledger, 1, { one: 1 }))).toBe('applied')
})

test('PostgreSQL changes a row that an open transaction refers to', async () => {
  const place = await openPostgres()
  await makeVotes(place)
  await place.run(
    'INSERT INTO items VALUES (1, 0); ALTER TABLE votes ADD FOREIGN KEY (item) REFERENCES items',
  )
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)
  const voter = await place.session()
  await voter.run('BEGIN')
  await voter.run("INSERT INTO votes (item, voter) VALUES (1, 'ada')")

  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')

  await voter.run('COMMIT')
})
