// Faults of a roll-up that only a server can cause: overlapping transactions, ended connections, a log that is left in
// the middle.
import { createPool } from 'mysql2/promise'
import { mysqlEvents } from 'perilune/mysql'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { EventSource } from '../../src/counters/count-source.ts'
import { until } from '../servers/ask.ts'
import {
  backlog,
  makeVotes,
  openMariadbOfNulls,
  postgresAlone,
  read,
  rollUp,
  rollUpAll,
  VOTES,
  voteFor,
} from './counts-fixture.ts'
import { patiently, stored } from './fixture.ts'
import { COMMIT, openMariadb, openSqlite, type PostgresPlace, proxyTo } from './places.ts'

const openPostgres = postgresAlone()

describe.each([
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
  { name: 'mariadb, marked from NULL', open: openMariadbOfNulls },
])('a roll-up of $name', ({ open }) => {
  async function setup() {
    const place = await open()
    await makeVotes(place)
    const proxy = await proxyTo(place)
    const votes = place.events(VOTES, proxy.port)
    await votes.prepare()
    return { place, proxy, votes }
  }

  test('counts a transaction once that commits after later ones, and reports it as soon as it is there', async () => {
    const { place, votes } = await setup()
    const [slow, other] = [await place.session(), await place.session()]
    await slow.run('BEGIN')
    await slow.run(voteFor(1, 'slow'))
    for (const voter of ['a', 'b', 'c']) await other.run(voteFor(1, voter))

    await rollUpAll(votes)
    expect(await read(votes, '1')).toEqual({ 1: 3 })
    await other.run(voteFor(1, 'd'))
    await rollUpAll(votes)
    expect(await read(votes, '1')).toEqual({ 1: 4 })

    await slow.run('COMMIT')
    expect(await read(votes, '1')).toEqual({ 1: 5 })
    await rollUpAll(votes)
    expect(await read(votes, '1')).toEqual({ 1: 5 })
    expect(await stored(place, 'items')).toEqual({ 1: '5' })
  })

  test('counts nothing of a transaction that is rolled back, and what overlapped with it', async () => {
    const { place, votes } = await setup()
    const [slow, other] = [await place.session(), await place.session()]
    await slow.run('BEGIN')
    await slow.run(voteFor(1, 'slow'))
    await other.run('BEGIN')
    await other.run(voteFor(1, 'other'))
    await rollUpAll(votes)
    await other.run('COMMIT')
    await slow.run('ROLLBACK')

    await rollUpAll(votes)

    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  })

  test('counts once what was committed when its answer was lost', async () => {
    const { place, proxy, votes } = await setup()
    for (let round = 1; round <= 5; round++) {
      await place.run(voteFor(1, `v${round}`))
      proxy.cutReplies(1, COMMIT)
      await expect(rollUp(votes)).rejects.toMatchObject({ code: 'sink-unreachable', isPassing: true })
      await until('the commit is there', async () => (await stored(place, 'items'))[1] === String(round))
      expect(await rollUp(votes)).toMatchObject({ events: 0, values: new Map() })
    }
    expect(await stored(place, 'items')).toEqual({ 1: '5' })
  })

  test('locks nothing when nothing waits', async () => {
    const { place, proxy, votes } = await setup()
    await place.run(voteFor(1, 'ada'))
    const { version } = await rollUp(votes)

    proxy.dropRequests(1, /FOR UPDATE/)
    expect(await rollUp(votes)).toMatchObject({ version, since: version, events: 0 })

    expect(proxy.pendingFaults).toBe(1)
  })

  test('counts once what was not committed', async () => {
    const { place, proxy, votes } = await setup()
    await place.run(voteFor(1, 'ada'))

    proxy.dropRequests(1, COMMIT)
    await expect(rollUp(votes)).rejects.toMatchObject({ code: 'sink-unreachable' })

    expect(await rollUp(votes)).toMatchObject({ since: 0, events: 1 })
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  })

  test.each([
    /BEGIN|START TRANSACTION/,
    /FOR UPDATE/,
    /votes.{1,4} (AS|WHERE|e )/,
    /INSERT INTO .*items/,
    /UPDATE .*perilune_cursor/,
  ])('counts once after its connection was lost at %s', async (matching) => {
    const { place, proxy, votes } = await setup()
    await place.run(voteFor(1, 'ada'))

    proxy.cutReplies(1, matching)
    await expect(rollUp(votes)).rejects.toMatchObject({ code: 'sink-unreachable' })
    expect(proxy.pendingFaults).toBe(0)

    await patiently(() => rollUp(votes))
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  })

  test('ends with its connection while it waits for a count that another session changes', async () => {
    const { place, votes } = await setup()
    await place.run('INSERT INTO items VALUES (1, 0)')
    await place.run(voteFor(1, 'ada'))
    const other = await place.session()
    await other.run('BEGIN')
    await other.run('UPDATE items SET votes = 100 WHERE id = 1')

    const rolling = expect(rollUp(votes)).rejects.toMatchObject({ code: 'sink-unreachable' })
    await until('it waits', async () => (await place.waiting()).length === 1)
    const [waiter] = await place.waiting()
    await place.endConnection(waiter)
    await rolling
    await other.run('COMMIT')

    await rollUpAll(votes)
    expect(await stored(place, 'items')).toEqual({ 1: '101' })
  })

  test('blocks no vote while it is under way', async () => {
    const { place, votes } = await setup()
    await place.run('INSERT INTO items VALUES (1, 0)')
    await place.run(voteFor(1, 'ada'))
    const other = await place.session()
    await other.run('BEGIN')
    await other.run('UPDATE items SET votes = 100 WHERE id = 1')
    const rolling = rollUp(votes)
    await until('it waits', async () => (await place.waiting()).length === 1)

    await place.run(voteFor(1, 'bob'))
    await other.run('COMMIT')
    await rolling

    await rollUpAll(votes)
    expect(await stored(place, 'items')).toEqual({ 1: '102' })
  })
})

/**
 * As a dump brings them from a server that has had more transactions: one row of ada's that is counted there, and one
 * that is not.
 */
async function bringVotes(): Promise<{ place: PostgresPlace; votes: EventSource }> {
  const place = await openPostgres()
  await makeVotes(place)
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada'))
  await rollUp(votes)
  await place.run(
    "UPDATE votes SET tx = '8999999999999'; UPDATE perilune_cursor SET reached = '9000000000000'",
  )
  await place.run(voteFor(1, 'bob'))
  await place.run("UPDATE votes SET tx = '9000000000001' WHERE voter = 'bob'")
  return { place, votes }
}

test('PostgreSQL reports that rows came from another server', async () => {
  const { place, votes } = await bringVotes()
  await place.run(voteFor(1, 'cy'))

  const said = {
    code: 'sink-misconfigured',
    message: expect.stringContaining('ahead of the transactions of this server'),
  }
  await expect(rollUp(votes, ['1'])).rejects.toMatchObject(said)
  await expect(rollUp(votes)).rejects.toMatchObject(said)
  await expect(backlog(votes)).rejects.toMatchObject(said)
  // The server has run as many transactions in the meantime: earlier inserts are before them, and would never be
  // counted.
  await place.run(`UPDATE perilune_cursor SET reached = '5'`)
  await expect(rollUp(votes)).rejects.toMatchObject(said)
})

test('PostgreSQL counts rows of another server once, distinct from those that it had counted', async () => {
  const { place, votes } = await bringVotes()
  await place.run(
    `UPDATE votes SET tx = CASE WHEN tx < (SELECT min(reached) FROM perilune_cursor) THEN '3'::xid8 ELSE '4' END`,
  )
  await expect(backlog(votes)).rejects.toMatchObject({ code: 'sink-misconfigured' })
  await place.run(`UPDATE perilune_cursor SET reached = '4', flaw = NULL`)

  expect(await rollUpAll(votes)).toBe(1)
  await place.run(voteFor(1, 'cy'))
  expect(await rollUpAll(votes)).toBe(1)
  expect(await stored(place, 'items')).toEqual({ 1: '3' })
})

test('PostgreSQL recognises a roll-up that another one waited for', async () => {
  const place = await openPostgres()
  await makeVotes(place)
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada'))
  await rollUp(votes)
  const other = await place.session()
  await other.run('BEGIN')
  await other.run('SELECT * FROM perilune_cursor FOR UPDATE')
  await place.run(voteFor(1, 'bob'))

  const waiting = rollUp(votes)
  await until('it waits', async () => (await place.waiting()).length === 1)
  // Further than the transactions that had begun when the one that waits asked.
  await place.run(voteFor(1, 'cy'))
  await other.run('UPDATE perilune_cursor SET reached = pg_snapshot_xmax(pg_current_snapshot())')
  await other.run('COMMIT')

  await expect(waiting).resolves.toBeDefined()
})

test('PostgreSQL returns right values after the roll-ups were lost', async () => {
  const place = await openPostgres()
  await makeVotes(place)
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada'))
  await rollUp(votes)
  await place.run('DELETE FROM perilune_cursor; UPDATE items SET votes = 0')

  expect(await read(votes, '1')).toEqual({ 1: 1 })
  expect(await rollUp(votes)).toMatchObject({ since: 0, events: 1 })
})

test('MariaDB changes no timestamps in rows that it marks', async () => {
  const place = await openMariadb()
  await makeVotes(place, ', changed TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP')
  await place.run(voteFor(1, 'ada bob'))

  expect(await rollUpAll(place.events(VOTES))).toBe(2)

  const rows = await place.run('SELECT changed, counted > 0 AS counted FROM votes')
  expect(rows).toEqual([1, 2].map(() => ({ changed: null, counted: 1 })))
})

test('MariaDB counts rows for a user who may write only the mark, though a timestamp changes with it', async () => {
  const place = await openMariadb()
  await makeVotes(place, ', changed TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP')
  await place.events(VOTES).prepare()
  const user = `u${place.schema.slice(0, 20)}`
  await place.run(`CREATE USER ${user}@'127.0.0.1'`)
  for (const table of ['items', 'perilune_cursor', 'perilune_refused'])
    await place.run(`GRANT SELECT, INSERT, UPDATE ON ${place.schema}.${table} TO ${user}@'127.0.0.1'`)
  await place.run(`GRANT SELECT, UPDATE (counted) ON ${place.schema}.votes TO ${user}@'127.0.0.1'`)
  await place.run(voteFor(1, 'ada bob'))
  const pool = createPool({ host: '127.0.0.1', port: place.port, user, database: place.schema })
  onTestFinished(() => pool.end())

  expect(await rollUpAll(mysqlEvents(pool, VOTES))).toBe(2)
})

test('MariaDB counts a locked row later', async () => {
  const place = await openMariadb()
  await makeVotes(place)
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada bob'))
  const holder = await place.session()
  await holder.run('BEGIN')
  await holder.run("SELECT * FROM votes WHERE voter = 'ada' FOR UPDATE")

  expect(await rollUp(votes)).toMatchObject({ events: 1, values: new Map([['1', 2n]]) })
  await holder.run('COMMIT')
  expect(await rollUp(votes)).toMatchObject({ events: 1, values: new Map([['1', 2n]]) })
})

test('MariaDB counts rows after locked ones, even when a batch is no larger than those', async () => {
  const place = await openMariadb()
  await makeVotes(place)
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada bob cyd'))
  await place.run(voteFor(2, 'dan eve'))
  const holder = await place.session()
  await holder.run('SET TRANSACTION ISOLATION LEVEL READ COMMITTED') // it would hold the next row, too
  await holder.run('BEGIN')
  await holder.run('SELECT * FROM votes WHERE item = 1 FOR UPDATE')

  expect(await rollUp(votes, [], 2)).toMatchObject({ events: 2, values: new Map([['2', 2n]]) })
  await holder.run('COMMIT')
  expect(await rollUpAll(votes, 2)).toBe(3)
  expect(await stored(place, 'items')).toEqual({ 1: '3', 2: '2' })
})

test('MariaDB takes rows with any keys, and marks none between them', async () => {
  const place = await openMariadb()
  await makeVotes(place)
  const votes = place.events(VOTES)
  const [former, later] = [
    ['-4', '2', '5'],
    ['-9223372036854775808', '-3', '-2', '-1', '1', '3', '4', '6', '7', '8', '9223372036854775807'],
  ]
  const versions: number[] = []
  for (const keys of [former, later]) {
    const rows = keys.map((key) => `(${key}, 1, 'v${key}')`)
    await place.run(`INSERT INTO votes (id, item, voter) VALUES ${rows.join(', ')}`)
    const rolled = await rollUp(votes)
    expect(rolled.events).toBe(keys.length)
    versions.push(rolled.version)
  }

  const marked = await place.run('SELECT CAST(id AS CHAR) AS at, counted FROM votes ORDER BY counted, id')
  expect(marked.map(({ at, counted }) => [at, counted])).toEqual([
    ...former.map((key) => [key, versions[0]]),
    ...later.map((key) => [key, versions[1]]),
  ])
  expect(await stored(place, 'items')).toEqual({ 1: '14' })
})

test.each(['PRIMARY KEY (tenant, id)', 'PRIMARY KEY (id, tenant)', 'UNIQUE (tenant), KEY (id)'])(
  'MariaDB rejects events whose key is not unique to one row: %s',
  async (keys) => {
    const place = await openMariadb()
    await makeVotes(place)
    const columns =
      'tenant INT NOT NULL, id BIGINT NOT NULL, item BIGINT, counted BIGINT NULL, INDEX (counted)'
    await place.run(`CREATE TABLE shared (${columns}, ${keys})`)
    await place.run(
      `CREATE TABLE absent (id BIGINT NULL UNIQUE, item BIGINT, counted BIGINT, INDEX (counted))`,
    )
    await place.run(`CREATE TABLE begun (id BIGINT PRIMARY KEY, item BIGINT,
      counted BIGINT NOT NULL DEFAULT 1, INDEX (counted))`)
    const { amount: _points, ...rest } = VOTES

    for (const table of ['shared', 'absent', 'begun'])
      await expect(place.events({ ...rest, table }).prepare()).rejects.toMatchObject({
        code: 'sink-misconfigured',
        message: `the column counted of ${table} is not BIGINT NOT NULL DEFAULT 0 or BIGINT NULL with an index, or its key id is not an integer NOT NULL with a unique index of its own`,
      })
    await place.run('ALTER TABLE shared ADD UNIQUE (id)')
    await place.events({ ...rest, table: 'shared' }).prepare()
  },
)

test('SQLite rejects a table that reuses the number of a deleted row', async () => {
  const place = await openSqlite()
  await makeVotes(place)
  await place.run('CREATE TABLE loose (id INTEGER PRIMARY KEY, item BIGINT)')
  const { amount: _points, ...rest } = VOTES

  await expect(place.events({ ...rest, table: 'loose' }).prepare()).rejects.toThrow(
    'the table loose has no key INTEGER PRIMARY KEY AUTOINCREMENT',
  )
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada bob'))
  await rollUp(votes)
  await place.run('DELETE FROM votes')
  await place.run(voteFor(1, 'cyd'))
  expect(await rollUp(votes)).toMatchObject({ events: 1, values: new Map([['1', 3n]]) })
})

test('SQLite reports that row numbers were set back', async () => {
  const place = await openSqlite()
  await makeVotes(place)
  const votes = place.events(VOTES)
  await place.run(voteFor(1, 'ada bob'))
  await rollUp(votes)
  // As a migration recreates a table whose newest row was deleted.
  await place.run("DELETE FROM votes WHERE voter = 'bob'")
  await place.run("UPDATE sqlite_sequence SET seq = 1 WHERE name = 'votes'")

  const said = {
    code: 'sink-misconfigured',
    message: expect.stringContaining('ahead of the numbers of votes'),
  }
  await expect(rollUp(votes, ['1'])).rejects.toMatchObject(said)
  await expect(rollUp(votes)).rejects.toMatchObject(said)
  await expect(backlog(votes)).rejects.toMatchObject(said)
  await place.run(
    "UPDATE sqlite_sequence SET seq = (SELECT reached FROM perilune_cursor) WHERE name = 'votes'",
  )
  await expect(rollUp(votes)).rejects.toMatchObject(said)
  await place.run('UPDATE perilune_cursor SET flaw = NULL')
  await place.run(voteFor(1, 'cyd'))
  expect(await rollUp(votes)).toMatchObject({ events: 1, values: new Map([['1', 3n]]) })
})
