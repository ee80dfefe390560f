import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { BacklogError, perilune, SinkError } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/counters-fixture.ts'
import { counting } from '../../test/counting-driver.ts'
import { collectUncaught } from '../../test/uncaught.ts'
import { ConnectionLostError } from '../driver.ts'
import { pause } from '../runtime/time/in-time.ts'
import type { Sink } from './sink.ts'
import type { Loss } from './source.ts'

const away = (): Error => new SinkError('sink-unreachable', 'it is away')

async function until(ready: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await ready())) await new Promise((resolve) => setTimeout(resolve, 5))
}

const never = (): Promise<never> => new Promise(() => undefined)

/** `begin` has used a part of the deadline when its answer arrives. */
function impatient(client: Redis): ReturnType<typeof perilune> {
  const driver = counting(ioredis(client), [])
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    if (call.script.name === 'counters/inspect') await pause(50)
    return run(call)
  }
  const redis = perilune(driver, { namespace: 'counters-test', deadline: '1s' })
  onTestFinished(() => redis.close())
  return redis
}

/** Runs `happen` while a batch is being applied. */
function during(sink: Sink, happen: () => Promise<void>): void {
  const { apply } = sink
  Object.assign(sink, {
    async apply(...args: Parameters<typeof apply>) {
      await happen()
      return apply(...args)
    },
  })
}

describe('flushing', () => {
  test('by several processes at once writes each increment to the database once', async () => {
    const { counters, another, stored } = await setup({ clock: 'real', partitions: 4, batchSize: 7 })
    const processes = [counters, another(), another()]
    const work = processes.map(async (process) => {
      for (let round = 0; round < 10; round++) {
        await Promise.all([
          ...Array.from({ length: 50 }, (_, at) => process.increment(at % 25)),
          process.flush(),
        ])
      }
    })
    await Promise.all(work)
    await counters.flush()

    expect(Array.from({ length: 25 }, (_, id) => stored(id))).toEqual(Array.from({ length: 25 }, () => 60))
    expect(await counters.inspect()).toMatchObject({ dirty: 0, lagMs: null, values: 25 })
  })

  test('ends with what was pending when it began, although more arrives while that settles', async () => {
    const { counters, stored } = await setup({ clock: 'real', fsyncGrace: '50ms' })
    await counters.increment(1)
    let isOver = false
    const others = (async () => {
      for (; !isOver; await pause(1)) await counters.increment(2)
    })()

    const flushed = await counters.flush()

    isOver = true
    await others
    expect([flushed.batches, stored(1)]).toEqual([1, 1])
  })

  test('runs in the background, and closes with the pending increments', async () => {
    const { counters, stored } = await setup({ clock: 'real' })
    {
      await using _flushing = counters.flushEvery('10ms')
      await counters.increment(1)
      await until(() => stored(1) === 1)
      await counters.increment(1)
    }
    expect(stored(1)).toBe(2)
  })

  test("writes all increments pending at its start, also those from before the server's clock stepped back", async () => {
    const { counters, stored, clock } = await setup({ batchSize: 1 })
    await counters.incrementMany([1, 2, 3].map((id) => ({ id })))
    await clock.advance(-3_600_000)

    expect(await counters.inspect()).toMatchObject({ dirty: 3, lagMs: 0 })
    expect(await counters.flush()).toMatchObject({ batches: 3 })
    expect([1, 2, 3].map(stored)).toEqual([1, 1, 1])
  })

  test('ends with the increments pending at its start, though more arrive than it writes', async () => {
    const { counters, stored, sink, clock } = await setup({ batchSize: 1 })
    await counters.incrementMany([1, 2, 3].map((id) => ({ id })))
    const flood = { batches: 0 }
    during(sink, async () => {
      flood.batches += 1
      if (flood.batches > 20) return
      await clock.advance(1000)
      await counters.incrementMany([0, 1].map((at) => ({ id: 10 * flood.batches + at })))
    })

    expect(await counters.flush()).toEqual({ batches: 3, counters: 3 })
    expect([1, 2, 3].map(stored)).toEqual([1, 1, 1])
    expect(await counters.inspect()).toMatchObject({ dirty: 6, lagMs: 2000, partitions: [{ pending: 5 }] })

    await counters.flushEvery('24d').close()
    expect([10, 11, 20, 21, 30, 31].map(stored)).toEqual([1, 1, 1, 1, 1, 1])
    expect(flood.batches).toBeLessThan(20)
  })

  test('closes by the deadline where the database hangs, and reports it', async () => {
    const { client, name, sink } = await setup()
    const counters = impatient(client).counters(name, { sink, fsyncGrace: '0s' })
    await counters.increment(1)
    Object.assign(sink, { apply: never })
    const errors: unknown[] = []
    const flushing = counters.flushEvery('1ms', { onError: (error) => errors.push(error) })
    await until(async () => (await counters.inspect()).partitions[0]?.batch !== null)

    await flushing.close()
    expect(errors.at(-1)).toMatchObject({ code: 'sink-unreachable' })
  })

  test.each(['begin', 'read', 'hasBatches'] as const)(
    'fails by the deadline where %s never answers',
    async (what) => {
      const { client, name, sink } = await setup()
      const counters = impatient(client).counters(name, { sink, fsyncGrace: '0s' })
      const before = sink[what]
      if (what === 'read') await sink.begin(`counters-test:${name}`, 0)
      Object.assign(sink, { [what]: never })
      await expect(counters.get(1)).rejects.toMatchObject({ code: 'sink-unreachable' })
      await client.hset(`counters-test:{counters:${name}:0}:pending`, '1', '1')
      const flushing = expect(counters.flush())
      if (what === 'read') await flushing.resolves.toEqual({ batches: 1, counters: 1 })
      else await flushing.rejects.toMatchObject({ code: 'sink-unreachable' })

      Object.assign(sink, { [what]: before })
      expect(await counters.get(1)).toBe(1)
    },
  )

  test('continues though its callbacks for errors and losses throw', async () => {
    const uncaught = collectUncaught()
    const callbacks = { errors: 0, losses: 0 }
    const { counters, stored, trouble, client, name } = await setup({
      onLoss: () => {
        callbacks.losses += 1
        throw new Error('of the user')
      },
    })
    await counters.increment(1)
    trouble.instead = () => new SinkError('sink-failed', 'it is broken')
    await using _flushing = counters.flushEvery('5ms', {
      onError: () => {
        callbacks.errors += 1
        throw new Error('of the user')
      },
    })
    await until(() => callbacks.errors > 1)
    trouble.instead = null
    await until(() => stored(1) === 1)

    const keys = await client.keys(`*${name}*`)
    await client.del(...keys.filter((key) => !key.endsWith(':clock')))
    expect(await counters.increment(1)).toBe(2)
    expect(callbacks.losses).toBe(1)
    expect(uncaught).toEqual(uncaught.map(() => expect.objectContaining({ message: 'of the user' })))
    expect(uncaught).toHaveLength(callbacks.errors + callbacks.losses)
  })

  test('is retried ever more seldom while it fails at once, and normally once it succeeds', async () => {
    const { counters, stored, trouble } = await setup()
    await counters.increment(1)
    trouble.instead = () => new SinkError('sink-failed', 'no')
    const errors: unknown[] = []
    await using _flushing = counters.flushEvery('1ms', { onError: (error) => errors.push(error) })

    await new Promise((resolve) => setTimeout(resolve, 3000))
    const failed = errors.length
    trouble.instead = null
    await until(() => stored(1) === 1)

    expect(failed).toBeGreaterThan(1)
    expect(failed).toBeLessThanOrEqual(8)
  })

  test('keeps increments while the database is away, and catches up', async () => {
    const { counters, stored, trouble, clock } = await setup()
    const errors: unknown[] = []
    await counters.increment(1)
    trouble.instead = (what) => (what === 'apply' ? away() : null)
    const flushing = counters.flushEvery('10ms', { onError: (error) => errors.push(error) })
    await until(async () => (await counters.inspect()).partitions[0]?.batch !== null)
    await clock.advance(5000)
    for (let n = 0; n < 100; n++) await counters.increment(1)

    expect(await counters.inspect()).toMatchObject({
      dirty: 1,
      lagMs: 5000,
      partitions: [{ batch: { counters: 1, ageMs: 5000 }, pending: 1 }],
    })
    expect(await counters.get(1)).toBe(101)
    trouble.instead = null
    await until(() => stored(1) === 101)
    await flushing.close()
    expect(errors).toEqual([])
  })

  test('counts no more counters than may wait for a database that is away, and all again when it is back', async () => {
    const { counters, stored, trouble } = await setup({ mostDirty: 2 })
    await counters.incrementMany([1, 2, 3].map((id) => ({ id, by: 0 })))
    await counters.flush()
    trouble.instead = (what) => (what === 'apply' ? away() : null)
    await counters.increment(1)
    await counters.increment(2)

    await expect(counters.increment(3)).rejects.toThrow(new BacklogError('3', 2))
    expect(await counters.increment(1, 4)).toBe(5)
    trouble.instead = null
    await counters.flush()

    expect(await counters.increment(3)).toBe(1)
    expect([stored(1), stored(2), stored(3)]).toEqual([5, 1, undefined])
  })

  test('that ends between commit and ack is completed by the next one, and counts once', async () => {
    const { counters, stored, sink, another } = await setup()
    await counters.increment(1)
    const { apply } = sink
    Object.assign(sink, {
      async apply(...args: Parameters<typeof apply>) {
        await apply(...args)
        throw new SinkError('sink-failed', 'the process ends here')
      },
    })
    await expect(counters.flush()).rejects.toThrow('the process ends here')
    expect(stored(1)).toBe(1)
    Object.assign(sink, { apply })
    await counters.increment(1)

    expect(await another().flush()).toEqual({ batches: 2, counters: 2 })
    expect(stored(1)).toBe(2)
  })

  test('reports the increments lost with the keyspace, and continues from the database', async () => {
    const losses: Loss[] = []
    const { counters, client, name, stored } = await setup({ onLoss: (loss) => losses.push(loss) })
    await counters.increment(1, 5)
    await counters.flush()
    await counters.increment(1, 100)
    const keys = await client.keys(`*${name}*`)
    await client.del(...keys.filter((key) => !key.endsWith(':clock')))

    expect(await counters.increment(1)).toBe(6)
    await counters.flush()
    expect(stored(1)).toBe(6)
    expect(losses).toEqual([{ partition: 0, counters: null, why: 'keyspace lost' }])
  })

  test('reports this loss also in a new process that has not seen the keyspace', async () => {
    const losses: Loss[] = []
    const { counters, client, name, another } = await setup()
    await counters.increment(1, 5)
    await counters.flush()
    await counters.increment(1, 100)
    const keys = await client.keys(`*${name}*`)
    await client.del(...keys.filter((key) => !key.endsWith(':clock')))

    const fresh = another({ onLoss: (loss) => losses.push(loss) })
    expect(await fresh.get(1)).toBe(5)
    expect(await fresh.increment(1)).toBe(6)
    expect(losses).toEqual([{ partition: 0, counters: null, why: 'keyspace lost' }])
  })

  test('reports no loss of cleared counters, nor of an epoch that no process was in', async () => {
    const losses: Loss[] = []
    const { counters, sink, name, another } = await setup({ onLoss: (loss) => losses.push(loss) })
    await sink.begin(`counters-test:${name}`, 0)
    await Promise.all([counters, another(), another()].map((each) => each.increment(1)))
    await counters.flush()
    await counters.clear()

    expect(await counters.increment(1)).toBe(4)
    expect(losses).toEqual([])
  })

  test('reports an old copy, and takes nothing from it that may be in the database', async () => {
    const losses: Loss[] = []
    const { counters, client, name, stored } = await setup({ onLoss: (loss) => losses.push(loss) })
    await counters.increment(1, 5)
    const parts = ['meta', 'values', 'pending'].map((part) => `counters-test:{counters:${name}:0}:${part}`)
    const dumps = await Promise.all(parts.map((key) => client.dumpBuffer(key)))
    await counters.flush()
    await Promise.all(parts.map((key, at) => client.restore(key, 0, dumps[at] as Buffer, 'REPLACE')))
    await counters.increment(1, 1)
    await counters.flush()

    expect(losses).toEqual([{ partition: 0, counters: 1, why: 'old copy of Redis' }])
    expect(stored(1)).toBe(5)
    expect(await counters.increment(1)).toBe(6)
  })

  test('of a database that came back with an old copy writes what Redis still has', async () => {
    const { counters, database, stored } = await setup()
    await counters.increment(1, 5)
    await counters.flush()
    await counters.increment(1, 7)
    database.exec('DELETE FROM perilune_ledger; DELETE FROM items')

    await counters.flush()
    expect(stored(1)).toBe(7)
    expect(await counters.get(1)).toBe(7)
  })

  test('calls a database that does not answer once, however many flushes wait', async () => {
    const { counters, stored, sink } = await setup()
    const { apply } = sink
    const begun: (() => void)[] = []
    Object.assign(sink, {
      async apply(...args: Parameters<typeof apply>) {
        await new Promise<void>((resolve) => begun.push(resolve))
        return apply(...args)
      },
    })
    await counters.increment(1)
    const flushes = [counters.flush(), counters.flush(), counters.flush()]
    await until(() => begun.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(begun).toHaveLength(1)

    Object.assign(sink, { apply })
    begun[0]?.()
    await Promise.all(flushes)
    expect(stored(1)).toBe(1)
  })

  test('sends neither the id of a batch nor an epoch twice, whatever answer is lost', async () => {
    const sent: Record<string, unknown[]> = { 'counters/begin': [], 'counters/seal': [] }
    const { client, sink, stored } = await setup()
    const driver = counting(ioredis(client), [])
    const run = driver.run.bind(driver)
    driver.run = async (call) => {
      const reply = await run(call)
      // The epoch is the first argument of `begin`, the id of the batch that of `seal`.
      if (sent[call.script.name]?.push(call.args[0]) === 1) throw new ConnectionLostError('lost', true)
      return reply
    }
    const redis = perilune(driver, { namespace: 'counters-test' })
    onTestFinished(() => redis.close())
    const counters = redis.counters(randomUUID(), { sink, fsyncGrace: '0s' })
    await redis.preload()

    await counters.increment(1)
    await counters.flush()
    expect(stored(1)).toBe(1)
    await counters.increment(1)
    await counters.flush()

    expect(stored(1)).toBe(2)
    expect(sent['counters/begin']).toHaveLength(1)
    expect(new Set(sent['counters/seal']).size).toBe(sent['counters/seal']?.length)
    expect(sent['counters/seal']?.length).toBeGreaterThan(2)
  })

  test('needs the table, and names what is missing before a batch is sealed', async () => {
    const { counters, client, name } = await setup({ target: { value: 'likes' } })
    const nowhere = await setup({ target: { table: 'things' } })

    await expect(counters.increment(1)).rejects.toThrow('the table items has no column likes')
    await expect(nowhere.counters.flush()).resolves.toEqual({ batches: 0, counters: 0 })
    await expect(nowhere.counters.increment(1)).rejects.toThrow('the table things does not exist')
    expect(await client.keys(`*${name}:0}:[vps]*`)).toEqual([])
  })
})
