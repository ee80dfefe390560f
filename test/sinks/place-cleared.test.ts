// A clear of counters ends their place in SQL, so that another one may follow: for all processes, and for both kinds of
// counters. A clear that is late does not end the place that followed.
import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { ConnectionLostError } from '../../src/driver.ts'
import { counting } from '../counting-driver.ts'
import { makeVotes, VOTES } from './counts-fixture.ts'
import { ITEMS, stored, WORDS } from './fixture.ts'
import { openMariadb, openSqlite } from './places.ts'

const MISPLACED = { name: 'SinkError', code: 'sink-misconfigured' }

/** `before`: what happens before a script is sent. */
function connect(before: (script: string) => Promise<void> | void = () => undefined): Perilune {
  const client = new Redis({ port: inject('redisPort'), lazyConnect: true })
  const driver = counting(ioredis(client), [])
  const run = driver.run.bind(driver)
  driver.run = async (call: Parameters<Driver['run']>[0]) => {
    await before(call.script.name)
    return run(call)
  }
  const redis = perilune(driver, { namespace: 'place-cleared', deadline: '2s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return redis
}

async function setup() {
  const place = await openSqlite()
  await makeVotes(place)
  const name = randomUUID()
  const target = { items: ITEMS, words: WORDS }
  const outboxOf = (of: keyof typeof target, redis = connect()) =>
    redis.counters(name, { outbox: place.outbox(target[of]) })
  const sinkOf = (of: keyof typeof target, redis = connect()) =>
    redis.counters(name, { sink: place.sink(target[of]), fsyncGrace: '0s' })
  const rowsOf = () => connect().counters(name, { events: place.events(VOTES) })
  const { client } = await place.session()
  return { place, client, outboxOf, sinkOf, rowsOf }
}

/** In two schemas of one server, the names of which Redis knows. */
async function setupSchemas() {
  const [here, there] = [await openMariadb(), await openMariadb()]
  for (const place of [here, there]) await makeVotes(place)
  const name = randomUUID()
  const redis = connect()
  const sinkOf = (place: typeof here) => redis.counters(name, { sink: place.sink(ITEMS), fsyncGrace: '0s' })
  const rowsOf = (place: typeof here) => redis.counters(name, { events: place.events(VOTES) })
  return { here, there, sinkOf, rowsOf }
}

test('a clear that stands still before its last step leaves the place that another process has decided since', async () => {
  const { outboxOf } = await setup()
  await outboxOf('items').prepare()
  let goOn: () => void = () => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  let isThere: () => void = () => undefined
  const there = new Promise<void>((resolve) => (isThere = resolve))
  const slow = connect(async (script) => {
    if (script !== 'counters/disband') return
    isThere()
    await held
  })
  const clearing = outboxOf('items', slow).clear()
  await there
  const words = outboxOf('words')
  await words.clear()
  await words.prepare()

  goOn()
  await clearing

  await expect(outboxOf('items').prepare()).rejects.toMatchObject(MISPLACED)
  await words.prepare()
})

test('a clear ends the place of an outbox that no partition count follows', async () => {
  const { client, outboxOf } = await setup()
  const items = outboxOf('items')
  await items.add(client, { id: 1, idempotencyKey: 'a' })
  await outboxOf('words').clear()

  await outboxOf('words').prepare()

  await expect(outboxOf('items').prepare()).rejects.toMatchObject(MISPLACED)
})

test('a process compares its outbox again soon after another one has cleared the counters', async () => {
  const { client, outboxOf } = await setup()
  const items = outboxOf('items')
  await items.add(client, { id: 1, idempotencyKey: 'a' })
  const words = outboxOf('words')
  await words.clear()
  await words.prepare()
  const now = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000)
  onTestFinished(() => spy.mockRestore())

  for (let times = 0; times < 2; times++)
    await expect(items.add(client, { id: 1, idempotencyKey: 'b' })).rejects.toMatchObject(MISPLACED)
})

test('a process that has cleared the counters itself compares its outbox with the one that followed', async () => {
  const { client, outboxOf } = await setup()
  const items = outboxOf('items')
  await items.add(client, { id: 1, idempotencyKey: 'a' })
  await items.clear()
  await outboxOf('words').prepare()

  await expect(items.add(client, { id: 1, idempotencyKey: 'b' })).rejects.toMatchObject(MISPLACED)
})

test('a flush in a new epoch waits until its place is compared, and writes nothing before', async () => {
  const { place, sinkOf } = await setup()
  let isAway = false
  const redis = connect((script) => {
    if (isAway && script === 'counters/keep-place')
      throw new ConnectionLostError('the connection is lost', false)
  })
  const items = sinkOf('items', redis)
  await items.increment(1, 3)
  await items.flush()
  const words = sinkOf('words')
  await words.clear()
  await words.increment(1, 5)
  isAway = true

  await expect(items.flush()).rejects.toThrow()
  expect(await stored(place, 'items')).toEqual({ 1: '3' })

  isAway = false
  await expect(items.flush()).rejects.toMatchObject(MISPLACED)
  await words.flush()
  expect(await stored(place, 'words')).toEqual({ 1: '5' })
})

test('a clear by counters of rows ends the epoch of a sink, so that none goes on in another table', async () => {
  const { place, sinkOf, rowsOf } = await setup()
  const items = sinkOf('items')
  await items.increment(1, 3)
  await items.flush()
  expect(await rowsOf().clear()).toBe(true)
  const words = sinkOf('words')
  await words.increment(1, 5)

  await expect(items.flush()).rejects.toMatchObject(MISPLACED)
  await words.flush()

  expect(await stored(place, 'items')).toEqual({ 1: '3' })
  expect(await stored(place, 'words')).toEqual({ 1: '5' })
})

test('a clear by counters of rows leaves increments of a sink that are not flushed, and their place', async () => {
  const { place, sinkOf, rowsOf } = await setup()
  const items = sinkOf('items')
  await items.increment(1, 3)

  const message = expect.stringContaining('that are not flushed') as string
  await expect(rowsOf().clear()).rejects.toMatchObject({ ...MISPLACED, message })

  await expect(sinkOf('words').flush()).rejects.toMatchObject(MISPLACED)
  await items.flush()
  expect(await stored(place, 'items')).toEqual({ 1: '3' })
})

test('a clear by counters of the other kind leaves no location, so that the first kind may move', async () => {
  const { here, there, sinkOf, rowsOf } = await setupSchemas()
  const counted = rowsOf(here)
  await counted.get(1)
  await sinkOf(there).clear()
  expect(await rowsOf(there).get(1)).toBe(0)
  await rowsOf(there).clear()

  await sinkOf(here).increment(1, 3)
  await sinkOf(here).flush()
  await rowsOf(there).clear()
  expect(await sinkOf(there).increment(1, 4)).toBe(4)
})
