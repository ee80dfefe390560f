// Counters have one place in SQL: the first process that uses their name decides, and another place is refused before
// anything is written there.
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { makeVotes, postgresAlone, VOTES, voteFor } from './counts-fixture.ts'
import { ITEMS, stored, WORDS } from './fixture.ts'
import { openMariadb, openSqlite, type Place } from './places.ts'

const NAMESPACE = 'one-place'
const openPostgres = postgresAlone()
const MISPLACED = { name: 'SinkError', code: 'sink-misconfigured' }
/** No server listens there. */
const NO_PORT = 1

function connect(port: number = inject('redisPort')): { redis: Perilune; client: Redis } {
  const client = new Redis({ port, lazyConnect: true })
  client.on('error', () => undefined)
  const redis = perilune(ioredis(client), { namespace: NAMESPACE, deadline: port === NO_PORT ? '1s' : '10s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, client }
}

function outboxOf(place: Place, name: string, redis = connect().redis) {
  return redis.counters(name, { outbox: place.outbox(ITEMS) })
}

async function tablesOf(place: Place & { readonly schema: string }): Promise<string[]> {
  const rows = await place.run(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${place.schema}'`,
  )
  return rows.map(({ name }) => String(name)).filter((name) => name.startsWith('perilune'))
}

describe.each([
  { name: 'postgres', open: openPostgres, named: (schema: string) => `postgres.${schema}` },
  { name: 'mariadb', open: openMariadb, named: (schema: string) => schema },
])('counters in two schemas of $name', ({ open, named }) => {
  async function setup() {
    const [here, there] = [await open(), await open()]
    for (const place of [here, there]) await makeVotes(place)
    const both = (table: string) =>
      `are in ${table} of ${named(here.schema)}, but this process has them in ${table} of ${named(there.schema)}: name the table with its schema`
    return { here, there, both, name: randomUUID() }
  }

  test('reject an outbox in another schema at prepare and add, with both places, and create nothing there', async () => {
    const { here, there, both, name } = await setup()
    const stock = outboxOf(here, name)
    await stock.prepare()
    const [prepared, adding] = [outboxOf(there, name), outboxOf(there, name)]
    const message = expect.stringContaining(both('items (id, votes) from perilune_outbox')) as string

    await expect(prepared.prepare()).rejects.toMatchObject({ ...MISPLACED, message })
    const session = await there.session()
    for (let times = 0; times < 2; times++) {
      await session.run('BEGIN')
      const addition = { id: 1, idempotencyKey: 'a' }
      await expect(adding.add(session.client, addition)).rejects.toMatchObject({ ...MISPLACED, message })
      await session.run('ROLLBACK')
    }
    await expect(adding.flush()).rejects.toMatchObject({ ...MISPLACED, message })
    await expect(adding.get(1)).rejects.toMatchObject({ ...MISPLACED, message })

    expect(await tablesOf(there)).toEqual([])
    expect(await stock.add((await here.session()).client, { id: 1, idempotencyKey: 'a' })).toBe(true)
    expect(await stock.flush()).toEqual({ events: 1 })
  })

  test('keep the place of the first add, until they are cleared', async () => {
    const { here, there, name } = await setup()
    const stock = outboxOf(here, name)
    const session = await there.session()
    await stock.add((await here.session()).client, { id: 1, idempotencyKey: 'a' })
    const moved = outboxOf(there, name)
    await expect(moved.add(session.client, { id: 1, idempotencyKey: 'a' })).rejects.toMatchObject(MISPLACED)

    await moved.clear()

    expect(await moved.add(session.client, { id: 1, idempotencyKey: 'a' })).toBe(true)
    expect(await moved.flush()).toEqual({ events: 1 })
    await expect(stock.flush()).rejects.toMatchObject(MISPLACED)
    expect(await stored(here, 'items')).toEqual({})
  })

  test('reject events and sinks of another schema, and create nothing there', async () => {
    const { here, there, both, name } = await setup()
    const { redis } = connect()
    const counted = redis.counters(`${name}-rows`, { events: here.events(VOTES) })
    const flushed = redis.counters(name, { sink: here.sink(ITEMS), fsyncGrace: '0s' })
    await counted.flush()
    await flushed.increment(1, 3)
    const rows = redis.counters(`${name}-rows`, { events: there.events(VOTES) })
    const sunk = redis.counters(name, { sink: there.sink(ITEMS), fsyncGrace: '0s' })
    const message = expect.stringContaining(both('items (id, votes)')) as string

    await expect(rows.prepare()).rejects.toMatchObject(MISPLACED)
    await expect(sunk.flush()).rejects.toMatchObject({ ...MISPLACED, message })
    await expect(sunk.increment(2)).rejects.toMatchObject({ ...MISPLACED, message })

    expect(await tablesOf(there)).toEqual([])
    await flushed.flush()
    expect(await stored(here, 'items')).toEqual({ 1: '3' })
  })
})

describe.each([
  { name: 'sqlite', open: openSqlite },
  { name: 'postgres', open: openPostgres },
  { name: 'mariadb', open: openMariadb },
])('counters in two tables of $name', ({ open }) => {
  async function setup() {
    const place = await open()
    await makeVotes(place)
    await place.run('ALTER TABLE items ADD COLUMN likes BIGINT NOT NULL DEFAULT 0')
    const { redis, client } = connect()
    const sunk = (target: typeof ITEMS | typeof WORDS | { table: string; value: string }, of: string) =>
      redis.counters(of, { sink: place.sink(target), fsyncGrace: '0s' })
    return { place, redis, client, sunk, name: randomUUID() }
  }

  test('reject a sink with another table or column before it writes, with the names of both', async () => {
    const { place, sunk, name } = await setup()
    const votes = sunk(ITEMS, name)
    await votes.increment(1, 3)
    for (const target of [WORDS, { table: 'items', value: 'likes' }]) {
      const other = sunk(target, name)
      const pair = new RegExp(`in items \\(id, votes\\).*in ${target.table} \\(id, ${target.value}\\)`)
      const refused = { ...MISPLACED, message: expect.stringMatching(pair) as string }

      await expect(other.flush()).rejects.toMatchObject(refused)
      await expect(other.increment(2)).rejects.toMatchObject(refused)
    }
    await votes.flush()

    expect(await stored(place, 'items')).toEqual({ 1: '3' })
    expect(await stored(place, 'words')).toEqual({})
  })

  test('flush to the table of the process that cleared them, and to no other', async () => {
    const { place, sunk, name } = await setup()
    const [votes, words] = [sunk(ITEMS, name), sunk(WORDS, name)]
    await votes.increment(1, 3)
    await votes.flush()
    await words.clear()
    await words.increment(1, 5)

    await expect(votes.flush()).rejects.toMatchObject(MISPLACED)
    await words.flush()

    expect(await stored(place, 'items')).toEqual({ 1: '3' })
    expect(await stored(place, 'words')).toEqual({ 1: '5' })
  })

  test('reject events with another table or column, and count each row once in the first place', async () => {
    const { place, redis, name } = await setup()
    const rowsOf = (options: Parameters<Place['events']>[0]) =>
      redis.counters(name, { events: place.events(options) })
    await place.run(voteFor(1, 'ada bob', 2))
    const { amount: _, ...plain } = VOTES
    const votes = rowsOf(VOTES)
    await votes.get(1)
    for (const other of [rowsOf(plain), rowsOf({ ...VOTES, target: WORDS })]) {
      await expect(other.flush()).rejects.toMatchObject(MISPLACED)
      await expect(other.get(2)).rejects.toMatchObject(MISPLACED)
      await expect(other.inspect()).rejects.toMatchObject(MISPLACED)
    }

    expect(await votes.flush()).toEqual({ events: 2 })
    expect(await stored(place, 'items')).toEqual({ 1: '4' })
    expect(await stored(place, 'words')).toEqual({})
  })

  test('are flushed to a renamed table, with all that waits, once the key that has the place is deleted', async () => {
    const { place, sunk, client, name } = await setup()
    await sunk(ITEMS, name).increment(1, 3)
    await place.run('ALTER TABLE items RENAME TO things')
    const renamed = sunk({ table: 'things', value: 'votes' }, name)
    await expect(renamed.flush()).rejects.toMatchObject(MISPLACED)

    await client.del(`${NAMESPACE}:{counters:${name}}:meta`)

    expect(await renamed.flush()).toEqual({ batches: 1, counters: 1 })
    expect(await stored(place, 'things')).toEqual({ 1: '3' })
  })

  test('complete the place that an earlier build has noted, which had no table', async () => {
    const { place, sunk, client, name } = await setup()
    const votes = sunk(ITEMS, name)
    await votes.increment(1, 3)
    // Such a build noted the location in the partition only.
    await client.hdel(`${NAMESPACE}:{counters:${name}}:meta`, 'ledger', 'target')

    expect(await sunk(ITEMS, name).increment(2, 4)).toBe(4)
    await expect(sunk(WORDS, name).increment(3)).rejects.toMatchObject(MISPLACED)
    await votes.flush()
    expect(await stored(place, 'items')).toEqual({ 1: '3', 2: '4' })
  })
})

test('counters of which an earlier build has noted the schema only are not taken over by another schema', async () => {
  const [here, there] = [await openMariadb(), await openMariadb()]
  for (const place of [here, there]) await makeVotes(place)
  const { redis, client } = connect()
  const name = randomUUID()
  const votes = redis.counters(name, { sink: here.sink(ITEMS), fsyncGrace: '0s' })
  const rows = redis.counters(`${name}-rows`, { events: here.events(VOTES) })
  await votes.increment(1, 3)
  await rows.get(1)
  for (const of of [name, `${name}-rows`])
    await client.hdel(`${NAMESPACE}:{counters:${of}}:meta`, 'ledger', 'target')

  const sunk = redis.counters(name, { sink: there.sink(ITEMS), fsyncGrace: '0s' })
  await expect(sunk.increment(2)).rejects.toMatchObject(MISPLACED)
  const other = redis.counters(`${name}-rows`, { events: there.events(VOTES) })
  await expect(other.prepare()).rejects.toMatchObject(MISPLACED)

  expect(await votes.increment(2)).toBe(1)
  await votes.flush()
  await rows.flush()
  expect(await stored(here, 'items')).toEqual({ 1: '3', 2: '1' })
})

test('counters add to an outbox without Redis where rows were counted, and to no outbox that may be a second one', async () => {
  const place = await openMariadb()
  await makeVotes(place)
  const [known, fresh] = [randomUUID(), randomUUID()]
  const first = outboxOf(place, known)
  const { client } = await place.session()
  await first.add(client, { id: 1, idempotencyKey: 'a' })
  await first.flush()
  const { redis } = connect(NO_PORT)

  const alone = outboxOf(place, known, redis)
  await alone.prepare()
  expect(await alone.add(client, { id: 1, idempotencyKey: 'b' })).toBe(true)
  await expect(
    outboxOf(place, fresh, redis).add(client, { id: 1, idempotencyKey: 'c' }),
  ).rejects.toMatchObject({
    name: 'DriverError',
    code: 'unreachable',
  })

  expect(await first.flush()).toEqual({ events: 1 })
  expect(await place.run('SELECT idempotency_key AS k FROM perilune_outbox')).toHaveLength(2)
})

test('counters create no table without Redis where no row was counted, nor do they to list what was refused', async () => {
  const place = await openMariadb()
  await makeVotes(place)
  const { redis } = connect(NO_PORT)
  const unreachable = { name: 'DriverError', code: 'unreachable' }
  const rows = redis.counters(randomUUID(), { events: place.events(VOTES) })
  const stock = outboxOf(place, randomUUID(), redis)
  const { client } = await place.session()

  for (const each of [rows, stock]) await expect(each.prepare()).rejects.toMatchObject(unreachable)
  await expect(stock.add(client, { id: 1, idempotencyKey: 'a' })).rejects.toMatchObject(unreachable)
  const votes = redis.counters(randomUUID(), { sink: place.sink(ITEMS) })
  for (const each of [rows, stock, votes]) expect(await each.refused()).toEqual([])

  expect(await tablesOf(place)).toEqual([])
})

test('counters of a sink without a location or a target are used as before', async () => {
  const place = await openSqlite()
  await makeVotes(place)
  const whole = place.sink(ITEMS)
  const own = {
    name: whole.name,
    missing: whole.missing,
    prepare: whole.prepare.bind(whole),
    read: whole.read.bind(whole),
    begin: whole.begin.bind(whole),
    close: whole.close.bind(whole),
    apply: whole.apply.bind(whole),
  }
  const { redis, client } = connect()
  const name = randomUUID()
  const votes = redis.counters(name, { sink: own, fsyncGrace: '0s' })
  await votes.increment(1, 3)
  await votes.flush()

  expect(await stored(place, 'items')).toEqual({ 1: '3' })
  expect(await client.hexists(`${NAMESPACE}:{counters:${name}}:meta`, 'target')).toBe(0)
})
