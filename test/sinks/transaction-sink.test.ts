// Counters in transactions that something else runs: Kysely, and connections in the hands of the user.
import { CompiledQuery, Kysely, MysqlDialect, PostgresDialect } from 'kysely'
import { createPool as createCallbackPool } from 'mysql2'
import { fromTransaction, type Transact } from 'perilune/transaction-sink'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { openMariadb, openPostgres, openSqlite, type Place } from './places.ts'

/** What a user of Kysely writes. */
function inKysely(database: Kysely<unknown>): Transact {
  return (work) =>
    database.transaction().execute((transaction) =>
      work(async (sql, values) => {
        const { rows, numAffectedRows } = await transaction.executeQuery(CompiledQuery.raw(sql, values))
        return { rows, changed: numAffectedRows ?? 0n }
      }),
    )
}

async function kyselyOnPostgres(): Promise<{ place: Place; transact: Transact; dialect: 'postgres' }> {
  const place = await openPostgres()
  const options = `-c search_path=${place.schema}`
  const address = { host: '127.0.0.1', port: place.port, user: 'postgres', database: 'postgres' }
  const pool = new pg.Pool({ ...address, options })
  const database = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  onTestFinished(() => database.destroy())
  return { place, transact: inKysely(database), dialect: 'postgres' }
}

async function kyselyOnMariadb(): Promise<{ place: Place; transact: Transact; dialect: 'mysql' }> {
  const place = await openMariadb()
  const address = { host: '127.0.0.1', port: place.port, user: 'root', database: place.schema }
  const pool = createCallbackPool(address)
  const database = new Kysely<unknown>({ dialect: new MysqlDialect({ pool }) })
  onTestFinished(() => database.destroy())
  return { place, transact: inKysely(database), dialect: 'mysql' }
}

/** A connection of SQLite whose owner begins and ends the transactions, one after the other. */
async function ownSqlite(): Promise<{ place: Place; transact: Transact; dialect: 'sqlite' }> {
  const place = await openSqlite()
  const database = place.open()
  let last: Promise<unknown> = Promise.resolve()
  const run: Transact = async (work) => {
    database.exec('BEGIN')
    try {
      const result = await work(async (sql, values) => {
        const prepared = database.prepare(sql)
        if (prepared.reader) return { rows: prepared.all(...values), changed: 0 }
        return { rows: [], changed: prepared.run(...values).changes }
      })
      database.exec('COMMIT')
      return result
    } catch (error) {
      database.exec('ROLLBACK')
      throw new Error('the transaction failed', { cause: error })
    }
  }
  const transact: Transact = (work) => {
    const result = last.then(() => run(work))
    last = result.catch(() => undefined)
    return result
  }
  return { place, transact, dialect: 'sqlite' }
}

test.each([
  { name: 'Kysely on PostgreSQL', open: kyselyOnPostgres },
  { name: 'Kysely on MariaDB', open: kyselyOnMariadb },
  { name: 'a connection of SQLite', open: ownSqlite },
])('counters are flushed in transactions of $name', async ({ open }) => {
  const { place, transact, dialect } = await open()
  await makeTables(place)
  const sink = fromTransaction(transact, { ...ITEMS, dialect })
  const ledger = await begin(sink)
  const batch = batchOf(ledger, 1, { 1: 5, 2: -3 })

  expect(await Promise.all([sink.apply(batch), sink.apply(batch)])).toEqual(
    expect.arrayContaining(['applied', 'known']),
  )
  expect(await sink.apply(batchOf(ledger, 1, { 1: 1 }))).toBe('ahead')
  await expect(sink.apply(batchOf(ledger, 2, { 2: -1, 1: 2n ** 63n - 1n }))).rejects.toMatchObject({
    code: 'sink-failed',
  })

  expect(await sink.read(ledger, ['1', '2', '3'])).toEqual({
    seq: 1,
    values: new Map([
      ['1', 5n],
      ['2', -3n],
    ]),
  })
  expect(await stored(place, 'items')).toEqual({ 1: '5', 2: '-3' })
})

test('an error that something wrapped means what its cause means', async () => {
  const wrapped = new Error('a transaction failed', { cause: Object.assign(new Error(), { code: '40001' }) })
  const sink = fromTransaction(() => Promise.reject(wrapped), { ...ITEMS, dialect: 'postgres' })

  await expect(sink.prepare()).rejects.toMatchObject({ code: 'sink-busy', cause: wrapped })
})

test('a dialect that is none is refused', () => {
  const transact: Transact = () => Promise.reject(new Error('nobody asks'))

  for (const dialect of ['oracle', 'toString'] as unknown as ['postgres'])
    expect(() => fromTransaction(transact, { ...ITEMS, dialect })).toThrow(
      'dialect must be one of postgres, mysql, sqlite',
    )
})
