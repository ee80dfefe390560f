// A database in which something waits for a lock: each kind of work uses one connection per process, however often it
// flushes.
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqlite, sqliteOutbox } from 'perilune/sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/shown-fixture.ts'
import { Deadlines } from '../runtime/time/deadlines.ts'
import { SinkError } from './errors.ts'
import { OneAtATime } from './sink-calls.ts'
import type { Sink } from './sink.ts'

const TARGET = { table: 'items', value: 'votes' }

/** The same object with a method that never answers, and the number of its calls. */
function held<Of extends object>(of: Of, method: keyof Of): { held: Of; asked: () => number } {
  let count = 0
  const never = (): Promise<never> => {
    count++
    return new Promise(() => undefined)
  }
  return { held: Object.assign(of, { [method]: never }), asked: () => count }
}

async function open() {
  const all = await setup({ clock: 'real' })
  const redis = perilune(ioredis(all.client), { namespace: 'shown-test', deadline: '1500ms' })
  onTestFinished(() => redis.close())
  return { ...all, redis, own: all.open() }
}

const late = { code: 'sink-unreachable' }

describe('while the database hangs', () => {
  test('roll-ups take one connection', async () => {
    const { redis, name, source } = await open()
    const { held: events, asked } = held(source, 'rollUp')
    const votes = redis.counters(name, { events })

    for (let flushes = 0; flushes < 3; flushes++) await expect(votes.flush()).rejects.toMatchObject(late)

    expect(asked()).toBe(1)
    expect(await votes.get(1)).toBe(0)
  })

  test('retries of refused changes take one connection, and hold up no flush but the first', async () => {
    const { redis, name, own, stored } = await open()
    const { held: sink, asked } = held<Sink>(sqlite(own, TARGET), 'retryRefused')
    const counters = redis.counters(name, { sink, fsyncGrace: '0s' })

    await counters.increment(1)
    await expect(counters.flush()).rejects.toMatchObject(late)
    for (let flushes = 0; flushes < 3; flushes++) {
      await counters.increment(1)
      expect(await counters.flush()).toEqual({ batches: 1, counters: 1 })
    }

    expect(stored(1)).toBe(4)
    expect(asked()).toBe(1)
  })

  test('purges of old idempotency keys take one connection, and hold up no flush but the first', async () => {
    const { redis, name, own } = await open()
    const { held: outbox, asked } = held(sqliteOutbox(own, TARGET), 'purge')
    const stock = redis.counters(name, { outbox })

    await expect(stock.flush()).rejects.toMatchObject(late)
    expect(await stock.flush()).toEqual({ events: 0 })
    expect(await stock.flush()).toEqual({ events: 0 })

    expect(asked()).toBe(1)
  })

  test('work waits for its turn until its deadline, and then fails, or runs after the failed one', async () => {
    const alone = new OneAtATime(new Deadlines())
    const order: string[] = []
    const slow = alone.run(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      order.push('first')
      throw new SinkError('sink-busy', 'busy')
    }, performance.now() + 1000)
    const second = alone.run(() => Promise.resolve(order.push('second')), performance.now() + 1000)

    expect(await alone.runUnlessBusy(() => Promise.resolve(1))).toBeNull()
    await expect(alone.run(() => Promise.resolve(1), performance.now() + 10)).rejects.toMatchObject(late)
    await expect(slow).rejects.toThrow('busy')
    await second
    expect(order).toEqual(['first', 'second'])
    expect(await alone.runUnlessBusy(() => Promise.resolve(1))).toBe(1)
  })
})
