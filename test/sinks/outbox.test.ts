// The promises of an outbox, on each database.
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Column, Statement } from '../../src/sinks/sql/dialect.ts'
import { SQLITE_COUNTS } from '../../src/sinks/sqlite/counts.ts'
import { until } from '../servers/ask.ts'
import { startProxy } from '../servers/proxy.ts'
import { backlog, postgresAlone, read, rollUp, rollUpAll } from './counts-fixture.ts'
import { ITEMS, makeTables, patiently, stored } from './fixture.ts'
import { openMariadb, openSqlite } from './places.ts'

const openPostgres = postgresAlone()

const COUNTERS = 'test:votes'

describe.each([
  { name: 'sqlite', open: openSqlite, past: 'at = at - 90000000' },
  { name: 'postgres', open: openPostgres, past: "at = at - interval '25 hours'" },
  { name: 'mariadb', open: openMariadb, past: 'at = at - INTERVAL 25 HOUR' },
])('an outbox in $name', ({ open, past }) => {
  async function setup() {
    const place = await open()
    await makeTables(place)
    const outbox = place.outbox(ITEMS)
    await outbox.prepare()
    const session = await place.session()
    const add = (key: string, id = '1', by = 1): Promise<boolean> =>
      outbox.add(session.client, COUNTERS, { id, by, idempotencyKey: key })
    return { place, outbox, session, add }
  }

  test('counts the additions of a transaction, once it is committed', async () => {
    const { place, outbox, session, add } = await setup()
    await session.run('BEGIN')
    expect(await add('a')).toBe(true)
    expect(await add('b', '2', -5)).toBe(true)
    expect(await read(outbox, '1')).toEqual({ 1: 0 })
    await session.run('COMMIT')

    expect(await read(outbox, '1', '2')).toEqual({ 1: 1, 2: -5 })
    expect(await backlog(outbox)).toEqual({ rows: 2, ageMs: expect.any(Number) })
    expect(await rollUp(outbox)).toMatchObject({ since: 0, events: 2 })
    expect(await stored(place, 'items')).toEqual({ 1: '1', 2: '-5' })
    expect(await backlog(outbox)).toEqual({ rows: 0, ageMs: null })
  })

  test('counts nothing of a transaction that is rolled back', async () => {
    const { place, outbox, session, add } = await setup()
    await session.run('BEGIN')
    await add('a')
    await session.run('ROLLBACK')

    expect(await rollUpAll(outbox)).toBe(0)
    expect(await add('a')).toBe(true)
    await rollUpAll(outbox)
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
  })

  test('knows an idempotency key, in the transaction and after it was counted, and leaves the transaction alone', async () => {
    const { place, outbox, session, add } = await setup()
    await session.run('BEGIN')
    expect(await add('a')).toBe(true)
    expect(await add('a', '2', 99)).toBe(false)
    await session.run("INSERT INTO words VALUES ('w', 1)")
    await session.run('COMMIT')
    await rollUpAll(outbox)

    expect(await add('a')).toBe(false)
    expect(await outbox.add(session.client, 'test:others', { id: '1', by: 5, idempotencyKey: 'a' })).toBe(
      true,
    )
    expect(await rollUpAll(outbox)).toBe(0)
    expect(await stored(place, 'items')).toEqual({ 1: '1' })
    expect(await stored(place, 'words')).toEqual({ w: '1' })
  })

  test('keeps counters apart, and many idempotency keys at once', async () => {
    const { place, outbox } = await setup()
    const adding = Array.from({ length: 6 }, async (_, at) => {
      const { client } = await place.session()
      for (let n = 0; n < 10; n++)
        await patiently(() =>
          outbox.add(client, COUNTERS, { id: '1', by: 1, idempotencyKey: `${(at + n) % 12}` }),
        )
    })
    await Promise.all([...adding, patiently(() => rollUp(outbox))])
    await rollUpAll(outbox)

    expect(await stored(place, 'items')).toEqual({ 1: '12' })
  })

  test('forgets idempotency keys that are old and counted, and no others', async () => {
    const { place, outbox, add } = await setup()
    await add('counted')
    await rollUpAll(outbox)
    await add('waiting')
    expect(await outbox.purge(COUNTERS)).toBe(false)
    expect(await add('counted')).toBe(false)
    await place.run(`UPDATE perilune_outbox SET ${past}`)

    expect(await outbox.purge(COUNTERS)).toBe(false)

    expect(
      (await place.run('SELECT idempotency_key AS own FROM perilune_outbox')).map(({ own }) => String(own)),
    ).toEqual(['waiting'])
    await rollUpAll(outbox)
    expect(await stored(place, 'items')).toEqual({ 1: '2' })
  })

  test('rejects an id that cannot be in the table before anything is written, and hides no error', async () => {
    const { outbox, session, add } = await setup()
    await expect(add('a', 'x')).rejects.toMatchObject({ code: 'invalid-argument' })
    await session.run('ALTER TABLE perilune_outbox RENAME COLUMN delta TO change_of_it')
    await session.run('ALTER TABLE perilune_outbox RENAME COLUMN at TO time_of_it')
    await expect(add('a')).rejects.toMatchObject({ name: 'SinkError' })
    await expect(outbox.purge(COUNTERS)).rejects.toMatchObject({ name: 'SinkError' })
  })

  test('is prepared by many at once', async () => {
    const { place } = await setup()
    await place.run('DROP TABLE perilune_outbox')
    await place.run('DROP TABLE perilune_cursor')
    await Promise.all(Array.from({ length: 6 }, () => patiently(() => place.outbox(ITEMS).prepare())))
    expect(await place.run('SELECT * FROM perilune_outbox')).toEqual([])
  })
})

describe.each([
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])('an outbox in $name', ({ open }) => {
  test('counts a transaction once that commits after later ones, and whose idempotency key others wait for', async () => {
    const place = await open()
    await makeTables(place)
    const outbox = place.outbox(ITEMS)
    const [slow, other] = [await place.session(), await place.session()]
    const add = (client: unknown, key: string): Promise<boolean> =>
      outbox.add(client, COUNTERS, { id: '1', by: 1, idempotencyKey: key })
    await slow.run('BEGIN')
    expect(await add(slow.client, 'slow')).toBe(true)
    for (const key of ['a', 'b']) expect(await add(other.client, key)).toBe(true)
    await rollUpAll(outbox)
    const repeated = add(other.client, 'slow')
    expect(await read(outbox, '1')).toEqual({ 1: 2 })

    await slow.run('COMMIT')

    expect(await repeated).toBe(false)
    expect(await read(outbox, '1')).toEqual({ 1: 3 })
    await rollUpAll(outbox)
    expect(await stored(place, 'items')).toEqual({ 1: '3' })
  })

  test('counts once after its connection was lost between the commit and its answer', async () => {
    const place = await open()
    await makeTables(place)
    const proxy = await startProxy(place.port, place.newReader)
    onTestFinished(() => proxy.stop())
    const outbox = place.outbox(ITEMS, proxy.port)
    await outbox.prepare()
    const { client } = await place.session()
    for (let round = 1; round <= 3; round++) {
      await outbox.add(client, COUNTERS, { id: '1', by: 1, idempotencyKey: String(round) })
      proxy.cutReplies(1, /\WCOMMIT\0?$/)
      await expect(rollUp(outbox)).rejects.toMatchObject({ code: 'sink-unreachable' })
      await until('the commit is there', async () => (await stored(place, 'items'))[1] === String(round))
    }
    expect(await rollUpAll(outbox)).toBe(0)
    expect(await stored(place, 'items')).toEqual({ 1: '3' })
  })
})

test('a SQLite outbox that lacks its indexes gets them, and finds rows by them', async () => {
  const place = await openSqlite()
  await makeTables(place)
  await place.outbox(ITEMS).prepare()
  for (const index of ['perilune_outbox_at', 'perilune_outbox_seq']) await place.run(`DROP INDEX ${index}`)
  const outbox = place.outbox(ITEMS)
  await outbox.prepare()

  const events = {
    ...SQLITE_COUNTS.outboxEvents,
    found: { schema: 'main', name: 'perilune_outbox', location: '' },
  }
  const waiting = { ...events, idColumn: {} as Column, isMarkedFromZero: false, stamped: [] }
  const planOf = ({ sql, values }: Statement): string => {
    const plan = place
      .open()
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...values) as { detail: string }[]
    return plan.map(({ detail }) => detail).join('\n')
  }
  expect(planOf(SQLITE_COUNTS.purge('main', COUNTERS, 1000, 1000))).toContain(
    'perilune_outbox_at (counters=? AND at<?)',
  )
  expect(planOf(SQLITE_COUNTS.waiting('main', waiting, COUNTERS, '0', 10))).toContain(
    'perilune_outbox_seq (counters=? AND rowid>?)',
  )
  expect(await outbox.purge(COUNTERS)).toBe(false)
})
