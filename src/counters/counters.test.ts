import { randomUUID } from 'node:crypto'
import { DriverError, InvalidArgumentError, OverflowError, perilune, UnknownCounterError } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { counting } from '../../test/counting-driver.ts'

describe('increments', () => {
  test('begin at the value in the database, and reach it when they are flushed', async () => {
    const { counters, database, stored } = await setup()
    database.exec('INSERT INTO items VALUES (7, 40)')

    expect(await counters.increment(7)).toBe(41)
    expect(await counters.increment(7, 2)).toBe(43)
    expect(stored(7)).toBe(40)

    expect(await counters.flush()).toEqual({ batches: 1, counters: 1 })
    expect(stored(7)).toBe(43)
    expect(await counters.increment(7, -3)).toBe(40)
    await counters.flush()
    expect(stored(7)).toBe(40)
    expect(await counters.flush()).toEqual({ batches: 0, counters: 0 })
  })

  test('of one tick travel together, and each resolves to its own value', async () => {
    const { counters, calls } = await setup()
    await counters.increment(1)
    calls.length = 0

    const values = await Promise.all(Array.from({ length: 100 }, () => counters.increment(1)))

    expect(values).toEqual(Array.from({ length: 100 }, (_, at) => at + 2))
    // Two, or a few more where the first is answered before the second is sent.
    expect(calls.length).toBeLessThan(8)
    expect(new Set(calls)).toEqual(new Set(['counters/increment']))
  })

  test('of one tick are answered exactly on both sides of 2^53', async () => {
    const { counters, database } = await setup()
    database.exec('INSERT INTO items VALUES (1, 9007199254740989), (2, -9007199254740989)')

    const up = await Promise.all([1, 1, 1, 1].map((by) => counters.increment(1, by)))
    const down = await Promise.all([-1, -2, -3].map((by) => counters.increment(2, by)))

    expect(up).toEqual([9007199254740990, 9007199254740991, 9007199254740992n, 9007199254740993n])
    expect(down).toEqual([-9007199254740990, -9007199254740992n, -9007199254740995n])
  })

  test('with an idempotency key count once', async () => {
    const { counters, clock } = await setup()
    const once = () => counters.increment(1, 5, { idempotencyKey: 'vote-1' })

    expect(await once()).toBe(5)
    expect(await once()).toBe(5)
    expect(await counters.increment(2, 5, { idempotencyKey: 'vote-1' })).toBe(5)
    await clock.advance(24 * 3_600_000 + 1)
    expect(await once()).toBe(10)
  })

  test('beyond 64 bits are refused, alone, and change nothing', async () => {
    const { counters, database } = await setup()
    database.exec('INSERT INTO items VALUES (1, 9223372036854775800)')

    const all = await Promise.allSettled([
      counters.increment(1, 3),
      counters.increment(1, 5),
      counters.increment(2),
    ])

    expect(all[0]).toEqual({ status: 'fulfilled', value: 9223372036854775803n })
    expect(all[1]).toMatchObject({ status: 'rejected', reason: expect.any(OverflowError) })
    expect(all[2]).toEqual({ status: 'fulfilled', value: 1 })
    await counters.flush()
    expect(await counters.get(1)).toBe(9223372036854775803n)
  })

  test('are returned as counted where they were, if others fail when they are retried alone', async () => {
    const { client, sink, database } = await setup()
    database.exec('INSERT INTO items VALUES (1, 9223372036854775800)')
    const driver = counting(ioredis(client), [])
    const run = driver.run.bind(driver)
    const redis = perilune(driver, { namespace: 'counters-test' })
    onTestFinished(() => redis.close())
    const counters = redis.counters(randomUUID(), { sink, fsyncGrace: '0s' })
    // The server has the script after this call: a missing script would be sent twice.
    await counters.incrementMany([
      { id: 1, by: 0 },
      { id: 2, by: 0 },
    ])
    let calls = 0
    driver.run = async (call) => {
      if (call.script.name === 'counters/increment' && ++calls > 1)
        throw new DriverError('store-full', 'full')
      return run(call)
    }

    const all = await counters.incrementMany([{ id: 2 }, { id: 1, by: 3 }, { id: 1, by: 5 }])
    expect(all[0]).toEqual({ id: '2', value: 1, counted: true })
    expect(all.slice(1)).toEqual([expect.any(DriverError), expect.any(DriverError)])

    calls = 0
    const alone = await Promise.allSettled([
      counters.increment(2),
      counters.increment(1, 3),
      counters.increment(1, 5),
    ])
    expect(alone.map((each) => (each.status === 'fulfilled' ? each.value : each.reason))).toEqual([
      2,
      expect.any(DriverError),
      expect.any(DriverError),
    ])
    expect(alone.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(await counters.getMany([1, 2])).toEqual([9223372036854775800n, 2])
  })

  test('of counters that the database does not have are rejected where none may be created', async () => {
    const { counters, client, name } = await setup({ target: { missing: 'refuse' } })

    await expect(counters.increment(9)).rejects.toThrow(UnknownCounterError)
    expect(await counters.get(9)).toBe(null)
    expect(await client.exists(`counters-test:{counters:${name}:0}:pending`)).toBe(0)
  })
})

test('let a batch settle for at most 24 days: a longer timer would fire at once', async () => {
  await expect(setup({ fsyncGrace: '25d' })).rejects.toThrow('fsyncGrace')
})

test('name the invalid increment among many, before any is counted', async () => {
  const { counters, client, name } = await setup()

  await expect(counters.incrementMany([{ id: 1 }, null as never])).rejects.toThrow('items[1] must be')
  const wrong = { id: 2, amount: 3 } as never
  await expect(counters.incrementMany([{ id: 1 }, wrong])).rejects.toThrow('items[1].amount is not known')
  expect(await client.exists(`counters-test:{counters:${name}:0}:pending`)).toBe(0)
})

test('are flushed at least every 24 days: a longer timer would fire at once', async () => {
  const { counters } = await setup()

  expect(() => counters.flushEvery('25d')).toThrow(InvalidArgumentError)
  await counters.flushEvery('24d').close()
})
