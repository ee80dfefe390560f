// A database that comes back while processes run: with a copy from before our tables were created, or with another
// primary behind the same address.
import { describe, expect, onTestFinished, test } from 'vitest'
import { makeVotes, postgresAlone, read, rollUp, VOTES, voteFor } from './counts-fixture.ts'
import { postgres, postgresEvents } from 'perilune/postgres'
import pg from 'pg'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openSqlite, type Place } from './places.ts'

const openPostgres = postgresAlone()

describe.each([
  { name: 'sqlite', open: openSqlite as () => Promise<Place> },
  { name: 'postgres', open: openPostgres as () => Promise<Place> },
  { name: 'mariadb', open: openMariadb as () => Promise<Place> },
])('when $name comes back with a copy from before our tables were created', ({ open }) => {
  test('a dropped ledger is created again', async () => {
    const place = await open()
    await makeTables(place)
    const sink = place.sink(ITEMS)
    const ledger = await begin(sink)
    await sink.apply(batchOf(ledger, 1, { 1: 5 }))
    const forget = async (): Promise<void> => {
      for (const table of ['perilune_ledger', 'perilune_refused']) await place.run(`DROP TABLE ${table}`)
    }

    await forget()
    expect(await sink.apply(batchOf(ledger, 2, { 1: 2 }))).toBe('behind')
    await forget()
    expect(await sink.read(ledger, ['1'])).toEqual({ seq: null, values: new Map([['1', 5n]]) })
    await forget()
    // A list creates nothing.
    expect(await sink.refused?.(ledger.counters)).toEqual([])
    expect(await sink.retryRefused?.(ledger.counters)).toBe(false)
    await forget()
    expect(await sink.hasBatches?.(ledger.counters, 0)).toBe(false)
    await forget()
    const epoch = await sink.begin(ledger.counters, 0)
    expect(await sink.apply(batchOf({ ...ledger, epoch }, 1, { 1: 2 }))).toBe('applied')
    expect(await stored(place, 'items')).toEqual({ 1: '7' })
  })

  test('rows are counted again, and so are changes of the outbox', async () => {
    const place = await open()
    await makeVotes(place)
    const votes = place.events(VOTES)
    const outbox = place.outbox({ ...ITEMS })
    await votes.prepare()
    await outbox.prepare()
    await place.run(voteFor(1, 'ada bob'))
    const forget = async (): Promise<void> => {
      for (const table of ['perilune_cursor', 'perilune_refused', 'perilune_outbox'])
        await place.run(`DROP TABLE IF EXISTS ${table}`)
    }

    await forget()
    expect(await read(votes, '1')).toEqual({ 1: 2 })
    await forget()
    expect(await rollUp(votes)).toMatchObject({ events: 2 })
    await forget()
    const add = async (): Promise<boolean> => {
      const session = await place.session()
      await session.run('BEGIN')
      try {
        return await outbox.add(session.client, 'test:stock', { id: '6', by: 3, idempotencyKey: 'k' })
      } finally {
        await session.run('COMMIT')
      }
    }
    await expect(add()).rejects.toMatchObject({ code: 'sink-misconfigured' })
    expect(await add()).toBe(true)
  })
})

test('a table that disappears is not replaced by one of its name in another schema', async () => {
  const place = await openPostgres()
  await makeVotes(place)
  const options = `-c search_path=tenant,${place.schema}`
  const address = { host: '127.0.0.1', port: place.port, user: 'postgres', database: 'postgres', options }
  const pool = new pg.Pool(address)
  onTestFinished(() => pool.end())
  const makeTenant = async (): Promise<void> => {
    await pool.query('CREATE SCHEMA tenant')
    for (const table of ['items', 'votes'])
      await pool.query(`CREATE TABLE tenant.${table} (LIKE ${place.schema}.${table} INCLUDING ALL)`)
  }
  await makeTenant()
  const [sink, votes] = [postgres(pool, ITEMS), postgresEvents(pool, VOTES)]
  const ledger = await begin(sink)
  await sink.apply(batchOf(ledger, 1, { 1: 5 }))
  await pool.query('INSERT INTO tenant.votes (item, voter) VALUES (1, 1)')
  expect(await rollUp(votes)).toMatchObject({ events: 1 })
  await place.run(voteFor(1, 'ada bob'))

  await pool.query('DROP SCHEMA tenant CASCADE')
  const moved = {
    code: 'sink-misconfigured',
    message: `the table items was tenant.items, and the database finds ${place.schema}.items now: bring it back, or restart the process`,
  }
  await expect(sink.apply(batchOf(ledger, 2, { 1: 5 }))).rejects.toMatchObject(moved)
  await expect(rollUp(votes)).rejects.toMatchObject({ code: 'sink-misconfigured' })
  await expect(votes.read('test:votes', ['1'])).rejects.toMatchObject({ code: 'sink-misconfigured' })
  expect(await stored(place, 'items')).toEqual({})

  await makeTenant()
  expect(await sink.apply(batchOf(ledger, 2, { 1: 5 }))).toBe('behind')
  expect(await rollUp(votes)).toMatchObject({ events: 0 })
})

describe('a connection to a server that is no longer primary', () => {
  test('of PostgreSQL is given up, and another one is taken', async () => {
    const place = await openPostgres()
    await makeTables(place)
    const pool = place.impatientPool(5000)
    const sink = place.sinkOfPool(pool, ITEMS)
    const ledger = await begin(sink)
    await pool.query('SET default_transaction_read_only = on')

    const batch = batchOf(ledger, 1, { 1: 1 })
    await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable', isPassing: true })
    expect(await sink.apply(batch)).toBe('applied')
  })

  test('of MariaDB is given up, and another one is taken', async () => {
    const place = await openMariadb()
    await makeTables(place)
    let [made, refused] = [0, 0]
    const sink = place.sinkThrough(ITEMS, async (connection) => {
      made += 1
      if (made === 2) return
      const query = connection.query.bind(connection)
      connection.query = (async (sql: string) => {
        if (!/UPDATE .*perilune_ledger/s.test(sql)) return query(sql)
        refused += 1
        throw Object.assign(new Error('--read-only'), { errno: 1290, code: 'ER_OPTION_PREVENTS_STATEMENT' })
      }) as typeof connection.query
    })
    const ledger = await begin(sink)

    const batch = batchOf(ledger, 1, { 1: 1 })
    await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable', isPassing: true })
    expect(await sink.apply(batch)).toBe('applied')
    expect({ made, refused }).toEqual({ made: 2, refused: 1 })
  })
})
