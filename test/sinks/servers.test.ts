// Faults of a flush that only a server can cause: other connections, locks, and connections that end.
import { createPool } from 'mysql2/promise'
import { mysql } from 'perilune/mysql'
import { postgres } from 'perilune/postgres'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Sink } from '../../src/counters/sink.ts'
import { until } from '../servers/ask.ts'
import { startMariadb } from '../servers/mariadb.ts'
import { startPostgres } from '../servers/postgres.ts'
import { startProxy } from '../servers/proxy.ts'
import { batchOf, begin, ITEMS, makeTables, patiently, stored } from './fixture.ts'
import { COMMIT, openMariadb, openPostgres, proxyTo, type ServerPlace } from './places.ts'

describe.each([
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])('a sink of $name', ({ open }) => {
  async function setup() {
    const place = await open()
    await makeTables(place)
    await place.run('INSERT INTO items (id) VALUES (1), (2)')
    return place
  }

  async function setupBehindProxy() {
    const place = await setup()
    const proxy = await proxyTo(place)
    const sink = place.sink(ITEMS, proxy.port)
    return { place, proxy, sink, ledger: await begin(sink) }
  }

  test('knows a batch whose commit was not acknowledged', async () => {
    const { place, proxy, sink, ledger } = await setupBehindProxy()

    for (let seq = 1; seq <= 5; seq++) {
      const batch = batchOf(ledger, seq, { 1: 1, 2: 10 })
      proxy.cutReplies(1, COMMIT)
      await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable', isPassing: true })
      expect(proxy.pendingFaults).toBe(0)
      await until('the commit is there', async () => (await stored(place, 'items'))[1] === String(seq))
      expect(await sink.apply(batch)).toBe('known')
    }

    expect(await stored(place, 'items')).toEqual({ 1: '5', 2: '50' })
  })

  test('applies a batch whose commit did not arrive', async () => {
    const { place, proxy, sink, ledger } = await setupBehindProxy()
    const batch = batchOf(ledger, 1, { 1: 1 })

    proxy.dropRequests(1, COMMIT)

    await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable' })
    expect(await sink.apply(batch)).toBe('applied')
    expect(await stored(place, 'items')).toEqual({ 1: '1', 2: '0' })
  })

  test.each([/BEGIN|START TRANSACTION/, /perilune_ledger/, /items/])(
    'applies a batch after its connection was lost at %s',
    async (matching) => {
      const { place, proxy, sink, ledger } = await setupBehindProxy()
      const batch = batchOf(ledger, 1, { 1: 1 })

      proxy.cutReplies(1, matching)

      await expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable' })
      expect(await sink.apply(batch)).toBe('applied')
      expect(await stored(place, 'items')).toEqual({ 1: '1', 2: '0' })
    },
  )

  test('reads again after its connection was lost while it read', async () => {
    const { proxy, sink, ledger } = await setupBehindProxy()

    proxy.cutReplies(1, /items/)

    await expect(sink.read(ledger, ['1'])).rejects.toMatchObject({ code: 'sink-unreachable' })
    expect((await sink.read(ledger, ['1'])).values.get('1')).toBe(0n)
  })

  test('reports that no server answers', async () => {
    const place = await setup()
    const proxy = await startProxy(place.port, place.newReader)
    const sink = place.sink(ITEMS, proxy.port)
    await sink.prepare()
    await proxy.stop()

    await expect(sink.begin('test:unreachable', 0)).rejects.toMatchObject({ code: 'sink-unreachable' })
  })

  test('outlives the end of its connection while it waits for a row', async () => {
    const place = await setup()
    const sink = place.sink(ITEMS)
    const ledger = await begin(sink)
    const other = await place.session()
    await other.run('BEGIN')
    await other.run('UPDATE items SET votes = 100 WHERE id = 1')
    const batch = batchOf(ledger, 1, { 1: 1, 2: 1 })

    const applying = expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-unreachable' })
    await place.endConnection(await waiter(place))
    await applying
    await other.run('COMMIT')

    expect(await sink.apply(batch)).toBe('applied')
    expect(await stored(place, 'items')).toEqual({ 1: '101', 2: '1' })
  })

  test('reports a deadlock, and applies the same batch afterwards', async () => {
    const place = await setup()
    const sink = place.sink(ITEMS)
    const ledger = await begin(sink)
    // Of two, MariaDB ends the one that has changed less.
    await place.run('CREATE TABLE work (id BIGINT PRIMARY KEY)')
    const other = await place.session()
    await other.run(place.isPatient)
    await other.run('BEGIN')
    await other.run(`INSERT INTO work VALUES ${Array.from({ length: 500 }, (_, at) => `(${at})`).join(', ')}`)
    await other.run('UPDATE items SET votes = 100 WHERE id = 2')
    const batch = batchOf(ledger, 1, { 1: 1, 2: 1 })

    const applying = expect(sink.apply(batch)).rejects.toMatchObject({ code: 'sink-busy', isPassing: true })
    await waiter(place)
    await other.run('UPDATE items SET votes = 100 WHERE id = 1')
    await other.run('COMMIT')
    await applying

    expect(await sink.apply(batch)).toBe('applied')
    expect(await stored(place, 'items')).toEqual({ 1: '101', 2: '101' })
  })
})

test('MariaDB is asked for committed rows, whatever isolation its connections have by default', async () => {
  const place = await openMariadb()
  await makeTables(place)
  const sink = place.sinkAfter('SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED', ITEMS)
  const ledger = await begin(sink)
  const other = await place.session()
  await other.run('BEGIN')
  await other.run('INSERT INTO items VALUES (1, 100)')

  expect((await sink.read(ledger, ['1'])).values).toEqual(new Map())
})

test.each([
  { name: 'postgres', start: startPostgres, sinkOn: postgresOn },
  { name: 'mariadb', start: startMariadb, sinkOn: mariadbOn },
])('a sink of $name continues after kill -9 of the server, and a restart', async ({ start, sinkOn }) => {
  const server = await start()
  onTestFinished(() => server.stop())
  const sink = await sinkOn(server.port)
  const ledger = await begin(sink)
  const [first, second] = [batchOf(ledger, 1, { 1: 1 }), batchOf(ledger, 2, { 1: 1 })]
  await sink.apply(first)

  await server.kill()
  // The backend of a PostgreSQL connection notices the end of its server a little later.
  await expect
    .poll(() =>
      sink.read(ledger, ['1']).then(
        () => 'answers',
        () => 'is away',
      ),
    )
    .toBe('is away')
  await expect(sink.apply(second)).rejects.toMatchObject({ code: 'sink-unreachable' })
  await server.restart()

  expect(await patiently(() => sink.apply(first))).toBe('known')
  expect(await patiently(() => sink.apply(second))).toBe('applied')
  expect(await sink.apply(second)).toBe('known')
  expect(await sink.read(ledger, ['1'])).toEqual({ seq: 2, values: new Map([['1', 2n]]) })
})

const TABLE = 'CREATE TABLE items (id BIGINT PRIMARY KEY, votes BIGINT NOT NULL)'

async function postgresOn(port: number): Promise<Sink> {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' })
  pool.on('error', () => {}) // the connections of the server that was killed
  onTestFinished(() => pool.end())
  await pool.query(TABLE)
  return postgres(pool, ITEMS)
}

async function mariadbOn(port: number): Promise<Sink> {
  const pool = createPool({ host: '127.0.0.1', port, user: 'root', database: 'mysql' })
  onTestFinished(() => pool.end())
  await pool.query(TABLE)
  return mysql(pool, ITEMS)
}

/** The connection that waits for a row. */
async function waiter(place: ServerPlace): Promise<unknown> {
  await until('a connection waits for a row', async () => (await place.waiting()).length === 1)
  const [id] = await place.waiting()
  return id
}
