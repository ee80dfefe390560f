// Rows that are counted in transactions that something else runs.
import {
  type Execute,
  eventsFromTransaction,
  outboxFromTransaction,
  type Transact,
} from 'perilune/transaction-sink'
import { describe, expect, test } from 'vitest'
import {
  backlog,
  makeVotes,
  postgresAlone,
  read,
  recount,
  rollUpAll,
  VOTES,
  voteFor,
} from './counts-fixture.ts'
import { ITEMS, makeTables, stored } from './fixture.ts'
import { kyselyOnMariadb, kyselyOnPostgres, ownSqlite } from './transactions.ts'

const COUNTERS = 'test:votes'

const openPostgres = postgresAlone()

describe.each([
  { name: 'Kysely on PostgreSQL', open: () => kyselyOnPostgres(openPostgres) },
  { name: 'Kysely on MariaDB', open: kyselyOnMariadb },
  { name: 'a connection of SQLite', open: ownSqlite },
])('in transactions of $name', ({ open }) => {
  test('events are counted once, reported before and after they are, and counted again', async () => {
    const { place, transact, dialect } = await open()
    await makeVotes(place)
    const votes = eventsFromTransaction(transact, { ...VOTES, dialect })
    await place.run(voteFor(1, 'ada bob'))
    await place.run(voteFor(2, 'cyd', 5))
    expect(await read(votes, '1', '2', '3')).toEqual({ 1: 2, 2: 5, 3: 0 })
    expect(await backlog(votes)).toEqual({ rows: 3, ageMs: null })

    const events = await Promise.all([rollUpAll(votes, 1), rollUpAll(votes, 1)])

    expect(events[0] + events[1]).toBe(3)
    expect(await stored(place, 'items')).toEqual({ 1: '2', 2: '5' })
    expect(await read(votes, '1', '2', '3')).toEqual({ 1: 2, 2: 5, 3: 0 })
    await place.run("DELETE FROM votes WHERE voter = 'bob'")
    await recount(votes, ['1'])
    expect(await stored(place, 'items')).toEqual({ 1: '1', 2: '5' })
  })

  test('changes of these transactions are counted, each idempotency key once', async () => {
    const { place, transact, dialect } = await open()
    await makeTables(place)
    const outbox = outboxFromTransaction(transact, { ...ITEMS, dialect })
    await outbox.prepare()
    const add = (execute: Execute, key: string): Promise<boolean> =>
      outbox.add(execute, COUNTERS, { id: '1', by: 1, idempotencyKey: key })

    const added = await transact(async (execute) => {
      await execute("INSERT INTO words VALUES ('w', 1)", [])
      return [await add(execute, 'a'), await add(wrapping(execute), 'a'), await add(execute, 'b')]
    })
    await expect(
      transact(async (execute) => {
        await add(execute, 'c')
        throw new Error('the order is void')
      }),
    ).rejects.toThrow()

    expect(added).toEqual([true, false, true])
    expect(await read(outbox, '1')).toEqual({ 1: 2 })
    expect(await rollUpAll(outbox)).toBe(2)
    expect(await stored(place, 'items')).toEqual({ 1: '2' })
    expect(await stored(place, 'words')).toEqual({ w: '1' })
    expect(await outbox.purge(COUNTERS)).toBe(false)
    expect(await transact((execute) => add(execute, 'b'))).toBe(false)
  })
})

/** Some libraries say what failed around what the client said. */
function wrapping(execute: Execute): Execute {
  return (sql, values) =>
    execute(sql, values).catch((cause: unknown) => {
      throw new Error(`failed: ${sql}`, { cause })
    })
}

test('an invalid transaction, dialect, or option of another dialect is rejected', async () => {
  const { place, transact } = await ownSqlite()
  await makeTables(place)
  const outbox = outboxFromTransaction(transact, { ...ITEMS, dialect: 'sqlite' })
  await expect(outbox.add({} as Execute, COUNTERS, { id: '1', by: 1, idempotencyKey: 'a' })).rejects.toThrow(
    'client must be the object with which your transaction of sqlite runs statements',
  )
  const dialect = 'oracle' as 'sqlite'
  expect(() => outboxFromTransaction(transact, { ...ITEMS, dialect })).toThrow('dialect must be one of')
  expect(() => eventsFromTransaction(transact, { ...VOTES, dialect })).toThrow('dialect must be one of')
  expect(() => eventsFromTransaction(7 as unknown as Transact, { ...VOTES, dialect })).toThrow(
    'transact must',
  )
  const foreign = { ...VOTES, tx: 'tx', dialect: 'sqlite' } as const
  expect(() => eventsFromTransaction(transact, foreign)).toThrow('options.tx')
})
