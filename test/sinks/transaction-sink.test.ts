// Counters in transactions that something else runs.
import { fromTransaction, type Transact } from 'perilune/transaction-sink'
import { expect, test } from 'vitest'
import { batchOf, begin, ITEMS, makeTables, stored } from './fixture.ts'
import { kyselyOnMariadb, kyselyOnPostgres, ownSqlite } from './transactions.ts'

test.each([
  { name: 'Kysely on PostgreSQL', open: () => kyselyOnPostgres() },
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
  expect(await sink.apply(batchOf(ledger, 2, { 2: -1, 1: 2n ** 63n - 1n }))).toMatchObject({
    refused: [{ id: '1', delta: 2n ** 63n - 1n }],
  })

  expect(await sink.read(ledger, ['1', '2', '3'])).toEqual({
    seq: 2,
    values: new Map([
      ['1', 2n ** 63n + 4n],
      ['2', -4n],
    ]),
  })
  expect(await stored(place, 'items')).toEqual({ 1: '5', 2: '-4' })
})

test('MariaDB recognises a batch that was committed after the snapshot of a transaction', async () => {
  const { place, transact } = await kyselyOnMariadb()
  await makeTables(place)
  const sink = fromTransaction(transact, { ...ITEMS, dialect: 'mysql' })
  const batch = batchOf(await begin(sink), 1, { 1: 5 })
  let meanwhile = async (): Promise<unknown> => undefined
  const { run } = await place.session()
  const late: Transact = async (work) => {
    await run('START TRANSACTION WITH CONSISTENT SNAPSHOT')
    await meanwhile()
    const result = await work(async (sql) => {
      const answered: unknown = await run(sql)
      if (Array.isArray(answered)) return { rows: answered, changed: 0 }
      return { rows: [], changed: (answered as { affectedRows: number }).affectedRows }
    })
    await run('COMMIT')
    return result
  }
  const other = fromTransaction(late, { ...ITEMS, dialect: 'mysql' })
  await other.prepare()

  meanwhile = () => sink.apply(batch)
  expect(await other.apply(batch)).toBe('known')
})

test('a wrapped error means the same as its cause', async () => {
  const wrapped = new Error('a transaction failed', { cause: Object.assign(new Error(), { code: '40001' }) })
  const sink = fromTransaction(() => Promise.reject(wrapped), { ...ITEMS, dialect: 'postgres' })

  await expect(sink.prepare()).rejects.toMatchObject({ code: 'sink-busy', cause: wrapped })
})

test.each([
  { dialect: 'postgres', code: 'EAI_AGAIN', means: 'sink-unreachable' },
  { dialect: 'mysql', code: 'EAI_AGAIN', means: 'sink-unreachable' },
  { dialect: 'postgres', code: '25P03', means: 'sink-unreachable' },
  { dialect: 'postgres', code: '57014', means: 'sink-busy' },
] as const)('$code of $dialect means $means', async ({ dialect, code, means }) => {
  const failed = Object.assign(new Error('it failed'), { code })
  const sink = fromTransaction(() => Promise.reject(failed), { ...ITEMS, dialect })

  await expect(sink.prepare()).rejects.toMatchObject({ code: means, isPassing: true })
})

/** The database's own error is reported next to that of the library. */
function besides(transact: Transact): Transact {
  return (work) =>
    transact((execute) =>
      work(async (sql, values) => {
        try {
          return await execute(sql, values)
        } catch (error) {
          const { code, errno, message } = error as { code?: string; errno?: number; message: string }
          const meta = { code: String(errno ?? code), message }
          throw Object.assign(new Error('Raw query failed'), { code: 'P2010', meta })
        }
      }),
    )
}

test.each([
  { name: 'PostgreSQL', open: () => kyselyOnPostgres() },
  { name: 'MariaDB', open: kyselyOnMariadb },
])('a row that $name rejects is kept when the library has a code of its own', async ({ open }) => {
  const { place, transact, dialect } = await open()
  await place.run('CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT CHECK (votes >= 0))')
  const sink = fromTransaction(besides(transact), { ...ITEMS, dialect })
  const ledger = await begin(sink)

  expect(await sink.apply(batchOf(ledger, 1, { 1: 5, 2: -3 }))).toMatchObject({ refused: [{ id: '2' }] })

  expect(await stored(place, 'items')).toEqual({ 1: '5' })
})

test('a code of the library says nothing about rows', async () => {
  const gone = Object.assign(new Error('Server has closed the connection'), { code: 'P1017' })
  let times = 0
  const failing: Transact = () => {
    times += 1
    return Promise.reject(gone)
  }
  const sink = fromTransaction(failing, { ...ITEMS, dialect: 'postgres' })
  await expect(sink.prepare()).rejects.toMatchObject({ code: 'sink-failed' })

  expect(times).toBe(1)
})

test('an invalid dialect is rejected', () => {
  const transact: Transact = () => Promise.reject(new Error('not called'))

  for (const dialect of ['oracle', 'toString'] as unknown as ['postgres'])
    expect(() => fromTransaction(transact, { ...ITEMS, dialect })).toThrow(
      'dialect must be one of postgres, mysql, sqlite',
    )
})
