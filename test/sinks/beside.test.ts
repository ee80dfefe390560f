// The place of our own tables, and valid targets: two processes have one ledger, whatever schema they begin in.
import { randomUUID } from 'node:crypto'
import { createPool } from 'mysql2/promise'
import { mysql, mysqlEvents, mysqlOutbox } from 'perilune/mysql'
import { postgres, postgresEvents, postgresOutbox } from 'perilune/postgres'
import { sqlite } from 'perilune/sqlite'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeVotes, postgresAlone, read, rollUp, VOTES, voteFor } from './counts-fixture.ts'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openSqlite } from './places.ts'

const openPostgres = postgresAlone()

describe.each([
  {
    name: 'postgres',
    async open() {
      const place = await openPostgres()
      const poolIn = (schema: string): pg.Pool => {
        const address = { host: '127.0.0.1', port: place.port, user: 'postgres', database: 'postgres' }
        const pool = new pg.Pool({ ...address, options: `-c search_path="${schema}"` })
        onTestFinished(() => pool.end())
        return pool
      }
      return {
        place,
        sinkIn: (schema: string, table: string) => postgres(poolIn(schema), { ...ITEMS, table }),
        eventsIn: (schema: string, table: string, target: string) =>
          postgresEvents(poolIn(schema), { ...VOTES, table, target: { ...ITEMS, table: target } }),
        outboxIn: (schema: string, table: string) => postgresOutbox(poolIn(schema), { ...ITEMS, table }),
      }
    },
  },
  {
    name: 'mariadb',
    async open() {
      const place = await openMariadb()
      const poolIn = (database: string) => {
        const pool = createPool({ host: '127.0.0.1', port: place.port, user: 'root', database })
        onTestFinished(() => pool.end())
        return pool
      }
      return {
        place,
        sinkIn: (schema: string, table: string) => mysql(poolIn(schema), { ...ITEMS, table }),
        eventsIn: (schema: string, table: string, target: string) =>
          mysqlEvents(poolIn(schema), { ...VOTES, table, target: { ...ITEMS, table: target } }),
        outboxIn: (schema: string, table: string) => mysqlOutbox(poolIn(schema), { ...ITEMS, table }),
      }
    },
  },
])('our own tables in $name', ({ open }) => {
  async function setup() {
    const opened = await open()
    const { place } = opened
    await makeVotes(place)
    // A name that only quotes make one.
    const others = [`a-${randomUUID()}`, `b-${randomUUID()}`]
    for (const other of others) await place.run(`CREATE SCHEMA ${place.quoted(other).join('')}`)
    const [web = '', jobs = ''] = others
    return { ...opened, web, jobs, items: `${place.schema}.items`, votes: `${place.schema}.votes` }
  }

  test('are created next to the target, whatever state the connection begins in', async () => {
    const { place, sinkIn, web, jobs, items } = await setup()
    const [one, other] = [sinkIn(web, items), sinkIn(jobs, items)]
    const ledger = await begin(one)

    expect(await one.apply(batchOf(ledger, 1, { 1: 5 }))).toBe('applied')
    expect(await other.apply(batchOf(ledger, 1, { 1: 5 }))).toBe('ahead')
    expect(await other.apply(batchOf(ledger, 2, { 1: 5 }))).toBe('applied')

    expect(await one.location?.()).toBe(await other.location?.())
    expect(await stored(place, 'items')).toEqual({ 1: '10' })
    expect(await place.run('SELECT epoch FROM perilune_ledger')).toHaveLength(1)
  })

  test('count rows and changes once, whatever state the connection begins in', async () => {
    const { place, eventsIn, outboxIn, web, jobs, items, votes } = await setup()
    await place.run(voteFor(1, 'ada bob'))
    for (const schema of [web, jobs]) await rollUp(eventsIn(schema, votes, items))
    expect(await stored(place, 'items')).toEqual({ 1: '2' })

    const [one, other] = [outboxIn(web, items), outboxIn(jobs, items)]
    await Promise.all([one.prepare(), other.prepare()])
    const client = (await place.session()).client as never
    const entry = { id: '2', by: 4, idempotencyKey: 'k' }
    expect(await one.add(client, 'test:stock', entry)).toBe(true)
    expect(await other.add(client, 'test:stock', entry)).toBe(false)
  })

  test('are created elsewhere when another table of that name is found, and the error says where', async () => {
    const { place, sinkIn, web } = await setup()
    const [quoted] = place.quoted(web)
    await place.run(`CREATE TABLE ${quoted}.items (id BIGINT PRIMARY KEY, votes BIGINT NOT NULL DEFAULT 0)`)

    const [here, there] = [sinkIn(place.schema, 'items'), sinkIn(web, 'items')]
    await Promise.all([here.prepare(), there.prepare()])

    expect(await there.location?.()).toContain(web)
    expect(await here.location?.()).toContain(place.schema)
    expect(await there.location?.()).not.toBe(await here.location?.())
    expect(await place.run(`SELECT * FROM ${quoted}.perilune_ledger`)).toEqual([])
  })
})

describe.each([
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])('a target in $name', ({ name, open }) => {
  test('is rejected by name when its columns are generated', async () => {
    const place = await open()
    await place.run(`CREATE TABLE twice (id BIGINT PRIMARY KEY, a BIGINT NOT NULL DEFAULT 0,
      votes BIGINT GENERATED ALWAYS AS (a * 2) STORED)`)
    await place.run(`CREATE TABLE same (a BIGINT PRIMARY KEY, id BIGINT GENERATED ALWAYS AS (a * 2) STORED UNIQUE,
      votes BIGINT NOT NULL DEFAULT 0)`)

    for (const missing of ['create', 'refuse'] as const)
      await expect(place.sink({ ...ITEMS, table: 'twice', missing }).prepare()).rejects.toMatchObject({
        code: 'sink-misconfigured',
        message: 'the column votes of twice is generated, so nothing can be written to it',
      })
    await expect(place.sink({ ...ITEMS, table: 'same' }).prepare()).rejects.toThrow(
      'the column id of same is gen',
    )
    await place.sink({ ...ITEMS, table: 'same', missing: 'refuse' }).prepare()
  })

  test.skipIf(name === 'mariadb')('is rejected by name when a trigger skips rows', async () => {
    const place = await open()
    await makeTables(place)
    if (name === 'sqlite') {
      await place.run(
        'CREATE TRIGGER gone BEFORE INSERT ON items BEGIN SELECT RAISE(IGNORE) WHERE new.id = 3; END',
      )
    } else {
      await place.run(`CREATE FUNCTION gone() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN IF new.id = 3 THEN RETURN NULL; END IF; RETURN new; END'`)
      await place.run('CREATE TRIGGER gone BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION gone()')
    }

    await expect(place.sink(ITEMS).prepare()).rejects.toThrow(
      /^the table items has the trigger gone, which leaves rows out/,
    )
  })
})

test('PostgreSQL rejects a table with a rule that does something else', async () => {
  const place = await openPostgres()
  await makeTables(place)
  await place.run('CREATE RULE none AS ON INSERT TO items DO INSTEAD NOTHING')

  await expect(place.sink(ITEMS).prepare()).rejects.toThrow('has the rule none')
})

test('PostgreSQL rejects a table that another one inherits from, and accepts a partitioned one', async () => {
  const place = await openPostgres()
  await makeTables(place)
  await place.run('CREATE TABLE old () INHERITS (items)')
  await place.run(`CREATE TABLE parts (id bigint PRIMARY KEY, votes bigint) PARTITION BY RANGE (id);
    CREATE TABLE part PARTITION OF parts FOR VALUES FROM (0) TO (9)`)

  await expect(place.sink(ITEMS).prepare()).rejects.toThrow('the table items is inherited by old')
  await place.sink({ ...ITEMS, table: 'parts' }).prepare()
})

test('PostgreSQL keeps changes that a later trigger skips, even with constraints that wait for the commit', async () => {
  const place = await openPostgres()
  await makeTables(place)
  await place.run(`CREATE TABLE known (id BIGINT PRIMARY KEY); INSERT INTO known VALUES (1);
    ALTER TABLE items ADD FOREIGN KEY (id) REFERENCES known DEFERRABLE INITIALLY DEFERRED`)
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)

  expect(await sink.apply(batchOf(ledger, 1, { 1: 1, 2: 2 }))).toMatchObject({ refused: [{ id: '2' }] })
  await place.run(`CREATE FUNCTION leaves_out() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER leaves_out BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION leaves_out()`)
  expect(await sink.apply(batchOf(ledger, 2, { 1: 5 }))).toMatchObject({ refused: [{ id: '1', delta: 5n }] })

  expect(await stored(place, 'items')).toEqual({ 1: '1' })
  expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 6n]]))
})

test('PostgreSQL and MariaDB reject columns of the wrong type for time and amount', async () => {
  for (const open of [openPostgres, openMariadb]) {
    const place = await open()
    await makeVotes(place, ', made BIGINT, span VARCHAR(9)')
    const prepare = (options: object) => place.events({ ...VOTES, ...options }).prepare()

    await expect(prepare({ at: 'made' })).rejects.toThrow(
      /the column made of votes is bigint.*, not a time with a date/,
    )
    await expect(prepare({ amount: 'span' })).rejects.toThrow(
      /the column span of votes is .*, not an integer/,
    )
  }
  const place = await openPostgres()
  await makeVotes(place, ', span INTERVAL')
  await expect(place.events({ ...VOTES, amount: 'span' }).prepare()).rejects.toThrow(
    'is interval, not an integer',
  )
})

test('MariaDB rejects 0 for a key that AUTO_INCREMENT would replace, and accepts it when no row is made', async () => {
  const place = await openMariadb()
  await place.run(
    'CREATE TABLE items (id BIGINT AUTO_INCREMENT PRIMARY KEY, votes BIGINT NOT NULL DEFAULT 0)',
  )
  await place.run(
    `CREATE TABLE votes (${place.eventColumns}, item BIGINT, points INTEGER NOT NULL DEFAULT 1, voter VARCHAR(9))`,
  )
  const sink = place.sink(ITEMS)
  const ledger = await begin(sink)
  const problem = 'id must not be 0, for which AUTO_INCREMENT generates another number, to be in items: "0"'

  await expect(sink.read(ledger, ['0'])).rejects.toThrow(problem)
  await place.run(voteFor(0, 'ada'))
  expect(await rollUp(place.events(VOTES))).toMatchObject({ refused: [{ id: '0', delta: 1n }] })
  expect(await stored(place, 'items')).toEqual({})

  await place.run('INSERT INTO items VALUES (5, 0)')
  await place.run('UPDATE items SET id = 0')
  const refusing = place.sink({ ...ITEMS, missing: 'refuse' })
  expect(await refusing.apply(batchOf(ledger, 1, { 0: 4 }))).toBe('applied')
  expect(await stored(place, 'items')).toEqual({ 0: '4' })
})

test('MariaDB ends transactions that others left open when the pool has autocommit off', async () => {
  const place = await openMariadb()
  await makeTables(place)
  let shared: { query(sql: string): Promise<unknown> } | undefined
  const sink = place.sinkThrough(ITEMS, (connection) => {
    shared = connection
    return connection.query('SET autocommit = 0')
  })
  const ledger = await begin(sink)
  const leaveOpen = async (): Promise<void> => void (await shared?.query('SELECT 1 FROM items'))

  await leaveOpen()
  expect(await sink.apply(batchOf(ledger, 1, { 1: 5 }))).toBe('applied')
  await leaveOpen()
  expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 5n]]))
  expect(await stored(place, 'items')).toEqual({ 1: '5' })
})

test('MariaDB leaves no transaction open when the pool has autocommit off', async () => {
  const place = await openMariadb()
  await makeTables(place)
  const sink = place.sinkAfter('SET autocommit = 0', ITEMS)
  const ledger = await begin(sink)
  await sink.read(ledger, ['1'])
  await place.run('INSERT INTO items VALUES (1, 7)')

  expect((await sink.read(ledger, ['1'])).values).toEqual(new Map([['1', 7n]]))
  const open = await place.run(`SELECT t.trx_id FROM information_schema.innodb_trx t
    JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id WHERE p.db = '${place.schema}'`)
  expect(open).toEqual([])
})

test('SQLite reads nothing of a transaction of the user, and reports why', async () => {
  const place = await openSqlite()
  await makeTables(place)
  const database = place.open()
  const sink = sqlite(database, ITEMS)
  const ledger = await begin(sink)
  const busy = { code: 'sink-busy', message: expect.stringContaining('your transaction is open') as string }
  database.exec('BEGIN')
  database.exec('INSERT INTO items VALUES (1, 77)')

  await expect(sink.read(ledger, ['1'])).rejects.toMatchObject(busy)
  await expect(sink.apply(batchOf(ledger, 1, { 1: 1 }))).rejects.toMatchObject(busy)
  database.exec('ROLLBACK')

  expect((await sink.read(ledger, ['1'])).values).toEqual(new Map())
  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('applied')
})

test('several SQLite sinks share one connection, and wait for each other', async () => {
  const place = await openSqlite()
  await makeTables(place)
  const database = place.open()
  const sinks = [sqlite(database, ITEMS), sqlite(database, ITEMS), sqlite(database, ITEMS)]
  const ledgers = await Promise.all(sinks.map(begin))

  await Promise.all(
    sinks.flatMap((sink, at) => {
      const ledger = ledgers[at] as (typeof ledgers)[0]
      return [sink.read(ledger, ['1']), sink.apply(batchOf(ledger, 1, { 1: 1 })), sink.read(ledger, ['1'])]
    }),
  )

  expect(await stored(place, 'items')).toEqual({ 1: '3' })
})

test('PostgreSQL returns all committed counts to concurrent readers while a roll-up commits', async () => {
  const place = await openPostgres()
  await makeVotes(place)
  const pool = place.impatientPool(20_000)
  Object.assign(pool.options, { max: 8 })
  let atCommit: () => Promise<unknown> = () => Promise.resolve()
  const slow = {
    query: pool.query.bind(pool) as never,
    connect: async () => {
      const client = await pool.connect()
      return Object.assign(Object.create(client) as typeof client, {
        query: async (sql: string, values?: unknown[]) => {
          if (sql === 'COMMIT') await atCommit()
          return client.query(sql, values)
        },
        release: (error?: Error) => client.release(error),
      }) as never
    },
  }
  const votes = postgresEvents(slow, VOTES)
  await place.run(voteFor(1, 'ada'))
  await rollUp(votes)
  await place.run(voteFor(1, 'bob'))
  const seen: object[] = []
  atCommit = async () => {
    atCommit = () => Promise.resolve()
    for (let round = 0; round < 3; round++) {
      seen.push(...(await Promise.all([read(votes, '1'), read(votes, '1'), read(votes, '1')])))
    }
  }

  await rollUp(votes)

  expect(seen).toEqual(Array.from({ length: 9 }, () => ({ 1: 2 })))
})
