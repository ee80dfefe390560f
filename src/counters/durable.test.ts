import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqliteOutbox } from 'perilune/sqlite'
import { describe, expect, test } from 'vitest'
import { setup as setupShown } from '../../test/shown-fixture.ts'

async function setup() {
  const { client, database, open, name, stored } = await setupShown()
  const own = open()
  const redis = perilune(ioredis(client), { namespace: 'shown-test' })
  const outbox = sqliteOutbox(own, { table: 'items', value: 'votes' })
  const stock = redis.counters(name, { outbox })
  await stock.prepare()
  return { stock, database, own, stored }
}

describe('durable counters', () => {
  test('change in a transaction of the user, and show the change', async () => {
    const { stock, database, stored } = await setup()
    database.exec('BEGIN')
    expect(await stock.add(database, { id: 1, by: 5, idempotencyKey: 'a' })).toBe(true)
    database.exec('COMMIT')
    expect(await stock.optimisticAdd(1, 5)).toBeNull()

    expect(await stock.get(1)).toBe(5)
    expect(await stock.flush()).toEqual({ events: 1 })
    expect(stored(1)).toBe(5)
    expect(await stock.get(1)).toBe(5)
    expect(await stock.inspect()).toEqual({
      values: 1,
      noted: 0,
      waiting: 0,
      lagMs: null,
      versions: [expect.any(Number)],
    })
  })

  test('count an idempotency key once, until it expires', async () => {
    const { stock, database, stored } = await setup()
    expect(await stock.add(database, { id: 1, idempotencyKey: 'a' })).toBe(true)
    expect(await stock.add(database, { id: 1, idempotencyKey: 'a' })).toBe(false)
    await stock.flush()
    expect(await stock.add(database, { id: 1, idempotencyKey: 'a' })).toBe(false)
    database.exec('UPDATE perilune_outbox SET at = at - 90000000')
    await stock.flush()

    expect(await stock.add(database, { id: 1, idempotencyKey: 'a' })).toBe(true)
    await stock.flush()
    expect(stored(1)).toBe(2)
  })

  test('are read again after another program has written to the table', async () => {
    const { stock, database } = await setup()
    await stock.get(1)
    database.exec('INSERT INTO items VALUES (1, 70)')
    expect(await stock.get(1)).toBe(0)
    await stock.reconcile([1])
    expect(await stock.get(1)).toBe(70)
  })

  test('name an invalid argument', async () => {
    const { stock, database, own } = await setup()
    await expect(stock.add(database, { id: 1, idempotencyKey: '' })).rejects.toThrow(
      'idempotencyKey must not be empty',
    )
    await expect(stock.add(database, { id: 1, by: 1.5, idempotencyKey: 'a' })).rejects.toThrow(
      'by must be a whole',
    )
    await expect(stock.add(database, { id: 'x', idempotencyKey: 'a' })).rejects.toThrow('to be in items')
    await expect(stock.add({} as never, { id: 1, idempotencyKey: 'a' })).rejects.toThrow('client must be')
    const target = { table: 'items', value: 'votes' }
    expect(() => sqliteOutbox(own, { ...target, idempotencyTtl: 5 as never })).toThrow('idempotencyTtl')
    expect(() => sqliteOutbox(own, { ...target, missing: 'x' as never })).toThrow('missing must be one of')
    expect(() => sqliteOutbox({} as never, target)).toThrow('database must be one of libsql')
  })
})
