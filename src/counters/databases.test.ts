// Counters whose database went back to an old copy, was replaced, or refuses rows.
import Database from 'libsql'
import { perilune, RefusedError, SinkError } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqlite } from 'perilune/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { instance } from '../../test/instance.ts'
import { counting } from '../../test/counting-driver.ts'
import type { Sink } from './sink.ts'
import type { Loss } from './source.ts'

interface Line {
  readonly epoch: number
  readonly seq: number
  readonly batch: string
}

async function until(ready: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The sink, but with another location. */
function placed(sink: Sink, location: string): Sink {
  return Object.assign(Object.create(sink) as Sink, { location: () => Promise.resolve(location) })
}

test('handles of one name load each from its own database, also at the same moment', async () => {
  const { redis, name } = instance()
  const database = new Database(':memory:')
  const open = (table: string, missing: 'create' | 'refuse') =>
    redis.counters(name, { sink: sqlite(database, { table, value: 'votes', missing }), fsyncGrace: '0s' })
  for (const table of ['items', 'others'])
    database.exec(`CREATE TABLE ${table} (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0)`)
  const creating = open('items', 'create')
  await creating.get(1)

  const [one, two, three] = await Promise.allSettled([
    creating.increment(2),
    open('items', 'refuse').increment(3),
    open('others', 'create').increment(4),
  ])

  expect(one.status).toBe('fulfilled')
  expect([two, three]).toMatchObject([
    { reason: { code: 'unknown-counter' } },
    { reason: { code: 'sink-misconfigured' } },
  ])
})

describe('counters', () => {
  test('are loaded and continue where the database came back with an old copy, though nothing is pending', async () => {
    const losses: Loss[] = []
    const { counters, another, database, stored } = await setup({ onLoss: (loss) => losses.push(loss) })
    await counters.increment(1, 5)
    await counters.flush()
    const { epoch, seq, batch } = database.prepare('SELECT * FROM perilune_ledger').get() as Line
    await counters.increment(1, 2)
    await counters.flush()
    database.exec(`UPDATE items SET votes = 5;
      UPDATE perilune_ledger SET seq = ${seq}, batch = '${batch}' WHERE epoch = ${epoch}`)

    expect(await another().get(2)).toBe(0)
    expect(await counters.get(1)).toBe(5)
    expect(await counters.increment(1)).toBe(6)
    await counters.flush()
    await counters.reconcile([1])

    expect(stored(1)).toBe(6)
    expect(losses).toEqual([])
  })

  test('bring a sealed batch, and later increments, once to a database that has fallen behind', async () => {
    const { counters, sink, database, stored } = await setup()
    await counters.increment(1, 5)
    await counters.flush()
    database.exec('CREATE TABLE copy AS SELECT * FROM perilune_ledger')
    await counters.increment(1, 1)
    await counters.flush()
    await counters.increment(1, 10)
    const { apply } = sink
    Object.assign(sink, { apply: () => Promise.reject(new SinkError('sink-failed', 'it is broken')) })
    await expect(counters.flush()).rejects.toThrow('it is broken')
    await counters.increment(1, 100)
    database.exec(`UPDATE items SET votes = 5; DELETE FROM perilune_ledger;
      INSERT INTO perilune_ledger SELECT * FROM copy`)
    Object.assign(sink, { apply })

    expect(await counters.get(2)).toBe(0)
    expect(await counters.get(1)).toBe(115)
    await counters.flush()

    expect(stored(1)).toBe(115)
  })

  test('report no loss where a late answer is from before the epoch began', async () => {
    const losses: Loss[] = []
    const { client, name, sink } = await setup({ clock: 'real' })
    let goOn: () => void = () => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const driver = counting(ioredis(client), [])
    const run = driver.run.bind(driver)
    driver.run = async (call) => {
      const answer = await run(call)
      if (call.script.name === 'counters/get') await held
      return answer
    }
    const redis = perilune(driver, { namespace: 'counters-test' })
    onTestFinished(() => redis.close())
    const counters = redis.counters(name, { sink, fsyncGrace: '0s', onLoss: (loss) => losses.push(loss) })

    const late = counters.get(1)
    await counters.increment(2)
    goOn()

    expect(await late).toBe(0)
    expect(await counters.increment(2)).toBe(2)
    expect(losses).toEqual([])
  })

  test('name the rows that the database refuses, write all others, and retry the refused ones', async () => {
    const { counters, database, stored } = await setup()
    database.exec(
      "CREATE TRIGGER few BEFORE UPDATE ON items WHEN new.votes > 10 BEGIN SELECT RAISE(ABORT, 'too many'); END",
    )
    await counters.increment(1, 10)
    await counters.flush()
    await Promise.all([counters.increment(1, 5), counters.increment(2, 7)])

    await expect(counters.flush()).rejects.toMatchObject({
      name: 'SinkError',
      code: 'sink-refused',
      refused: [{ id: '1', by: 5, why: expect.stringContaining('too many') as string }],
    })
    expect([stored(1), stored(2)]).toEqual([10, 7])
    expect(await counters.get(1)).toBe(15)
    expect(await counters.inspect()).toMatchObject({ dirty: 0 })
    expect(await counters.refused()).toMatchObject([{ id: '1', by: 5 }])

    database.exec('DROP TRIGGER few')
    expect(await counters.flush()).toEqual({ batches: 0, counters: 0 })
    expect(stored(1)).toBe(15)
    expect(await counters.refused()).toEqual([])
    await counters.reconcile([1])
    expect(await counters.get(1)).toBe(15)
  })

  test('are flushed at their interval though rows are refused, and each refusal is reported', async () => {
    const { counters, database, stored } = await setup({ clock: 'real', target: { missing: 'refuse' } })
    database.exec('INSERT INTO items VALUES (1, 0), (2, 0)')
    await counters.getMany([1, 2])
    database.exec('DELETE FROM items WHERE id = 2')
    const reported: RefusedError[] = []
    await using _flushing = counters.flushEvery('2ms', {
      onError: (error) => reported.push(error as RefusedError),
    })
    for (let at = 1; at <= 20; at++) {
      await counters.increment(1)
      await counters.increment(2)
      await until(() => stored(1) === at)
    }
    const sum = (): number =>
      reported.flatMap(({ refused }) => refused).reduce((all, { by }) => all + Number(by), 0)
    await until(() => sum() === 20)

    expect(await counters.refused()).toMatchObject([{ id: '2', by: 20 }])
    expect(reported.every((error) => error instanceof RefusedError)).toBe(true)
  })

  test('are rejected with both locations where the ledger is another one, and accepted after a clear', async () => {
    const { sink, another, stored } = await setup()
    const shop = another({ sink: placed(sink, 'shop.public') })
    await shop.increment(1, 5)
    // Another database does not know the epochs of this one.
    const nothing = () => Promise.resolve({ seq: null, values: new Map<string, bigint>() })
    const empty = { read: nothing, standing: nothing }
    const web = another({ sink: Object.assign(placed(sink, 'shop.web'), empty) })

    const message =
      'are in shop.public, but this process has them in shop.web: name the table with its schema'
    for (let times = 0; times < 2; times++)
      await expect(web.increment(2)).rejects.toMatchObject({
        code: 'sink-misconfigured',
        message: expect.stringContaining(message) as string,
      })
    await shop.flush()
    expect(stored(1)).toBe(5)
    await shop.clear()
    const moved = another({ sink: placed(sink, 'shop.web') })

    expect(await moved.increment(1)).toBe(6)
    await moved.flush()
    expect(stored(1)).toBe(6)
  })

  test('report which error a sink threw that is not a SinkError', async () => {
    const { another, sink } = await setup()
    const read = (): Promise<never> => Promise.reject(new TypeError('it is broken'))

    await expect(
      another({ sink: Object.assign(Object.create(sink) as Sink, { read }) }).get(1),
    ).rejects.toMatchObject({
      code: 'sink-unreachable',
      message: 'the sink failed: TypeError: it is broken',
    })
  })
})
