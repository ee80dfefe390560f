import { InvalidArgumentError } from 'perilune'
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'

describe('values', () => {
  test('come from Redis, otherwise from the database, in the order of the ids', async () => {
    const { counters, database, calls } = await setup({ partitions: 3, target: { missing: 'refuse' } })
    database.exec('INSERT INTO items VALUES (1, 10), (2, 20), (3, 9223372036854775807)')
    await counters.increment(1)

    expect(await counters.getMany([3, 9, 2, 1, 1])).toEqual([9223372036854775807n, null, 20, 11, 11])
    calls.length = 0
    expect(await counters.getMany([1, 2])).toEqual([11, 20])
    expect(await counters.get('3')).toBe(9223372036854775807n)
    expect(new Set(calls)).toEqual(new Set(['counters/get']))
    expect(await counters.getMany([])).toEqual([])
  })

  test('that the column cannot hold cost the other ids of a read only a few more statements', async () => {
    const { counters, sink } = await setup()
    const { read } = sink
    let reads = 0
    sink.read = (...asked) => {
      reads++
      return read(...asked)
    }
    const ids = Array.from({ length: 200 }, (_, at) => (at === 77 ? 'none' : String(at)))

    const answers = await Promise.allSettled(ids.map((id) => counters.get(id)))

    expect(answers.flatMap(({ status }, at) => (status === 'rejected' ? [ids[at]] : []))).toEqual(['none'])
    expect(reads).toBeLessThan(30)
  })

  test('stay for their retention after the last flush, and longer while they are dirty', async () => {
    const { counters, clock, client, name } = await setup({ retention: '1m' })
    const values = `counters-test:{counters:${name}:0}:values`
    await counters.increment(1)
    await counters.flush()
    await counters.increment(2)
    await clock.advance(60_000)
    await counters.flush()

    expect(await client.hkeys(values)).toEqual(['2'])
    expect(await counters.getMany([1, 2])).toEqual([1, 1])
  })

  test('are right while a flush is half done, also if they are loaded then', async () => {
    const { counters, client, name, trouble, another } = await setup()
    await counters.increment(1, 5)
    trouble.instead = (what) => (what === 'apply' ? new Error('no') : null)
    await expect(counters.flush()).rejects.toThrow('no')
    await counters.increment(1, 2)
    await client.del(`counters-test:{counters:${name}:0}:values`)

    expect(await another().get(1)).toBe(7)
    trouble.instead = null
    await client.del(`counters-test:{counters:${name}:0}:values`)
    await counters.flush()
    expect(await counters.get(1)).toBe(7)
  })

  test('changed in the database by another program are corrected by reconcile', async () => {
    const { counters, database } = await setup()
    await counters.increment(1, 5)
    await counters.flush()
    await counters.increment(1)
    database.exec('UPDATE items SET votes = 100')

    expect(await counters.get(1)).toBe(6)
    await counters.reconcile([1])
    expect(await counters.get(1)).toBe(101)
  })

  test('of an absent counter are right for two hundred first increments of eight processes, with few loads', async () => {
    const { counters, another, database, stored, calls } = await setup({ clock: 'real' })
    database.exec('INSERT INTO items VALUES (1, 1000)')
    const processes = [counters, ...Array.from({ length: 7 }, () => another())]

    const values = await Promise.all(
      Array.from({ length: 200 }, (_, at) => (processes[at % 8] ?? counters).increment(1)),
    )

    expect(values.toSorted((a, b) => Number(a) - Number(b))).toEqual(
      Array.from({ length: 200 }, (_, at) => 1001 + at),
    )
    // Increments of a process are spread over two calls, each of which may find the counter absent.
    expect(calls.filter((name) => name === 'counters/load').length).toBeLessThanOrEqual(16)
    await counters.flush()
    expect(stored(1)).toBe(1200)
  })

  test('are deleted by clear, with the increments that are not flushed', async () => {
    const { counters, stored } = await setup({ partitions: 2 })
    await counters.increment(1, 3)
    await counters.flush()
    await counters.increment(1, 4)

    expect(await counters.clear()).toBe(true)
    expect(await counters.clear()).toBe(false)
    expect(await counters.increment(1)).toBe(4)
    await counters.flush()
    expect(stored(1)).toBe(4)
  })

  test('reject bad arguments by their names before anything is sent', async () => {
    const { counters, another, calls } = await setup()
    const refused: [string, () => unknown][] = [
      ['id', () => counters.increment('')],
      ['id', () => counters.increment(1.5)],
      ['id', () => counters.get('x'.repeat(256))],
      ['by', () => counters.increment(1, 2 ** 53)],
      ['by', () => counters.increment(1, 0.5)],
      ['idempotencyKey', () => counters.increment(1, 1, { idempotencyKey: '' })],
      ['items[1].by', () => counters.incrementMany([{ id: 1 }, { id: 2, by: 1n as never }])],
      ['items.length', () => counters.incrementMany(Array.from({ length: 1001 }, () => ({ id: 1 })))],
      ['ids[0]', () => counters.getMany([null as never])],
      ['ids', () => counters.reconcile('1' as never)],
      ['sink', async () => another({ sink: {} as never })],
      ['partitions', async () => another({ partitions: 257 })],
      ['retention', async () => another({ retention: 'never' as never })],
      ['batchSize', async () => another({ batchSize: 0 })],
      ['options.every', async () => another({ every: 1 } as never)],
    ]
    for (const [argument, call] of refused) {
      const error: unknown = await Promise.resolve()
        .then(call)
        .catch((thrown: unknown) => thrown)
      expect(error, argument).toBeInstanceOf(InvalidArgumentError)
      expect(error).toMatchObject({ argument })
    }
    expect(calls).toEqual([])
  })
})
