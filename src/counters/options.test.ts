// Counters name an unknown option wherever it is given: a misspelt option would otherwise be ignored in silence.

import { Redis } from 'ioredis'
import Database from 'libsql'
import { InvalidArgumentError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { sqlite, sqliteEvents, sqliteOutbox } from 'perilune/sqlite'
import { eventsFromTransaction, fromTransaction, outboxFromTransaction } from 'perilune/transaction-sink'
import { expect, onTestFinished, test } from 'vitest'

const TARGET = { table: 'items' }
const EVENTS = { table: 'votes', id: 'item', target: TARGET }
const ODD = { odd: 1 }

/** Counters of each mode, whose driver and database are never called. */
function open() {
  const database = new Database(':memory:')
  onTestFinished(() => void database.close())
  const redis = perilune(ioredis(new Redis({ lazyConnect: true })))
  return {
    database,
    redis,
    counters: redis.counters('a', { sink: sqlite(database, TARGET) }),
    votes: redis.counters('b', { events: sqliteEvents(database, EVENTS) }),
    stock: redis.counters('c', { outbox: sqliteOutbox(database, TARGET) }),
  }
}

type Opened = ReturnType<typeof open>

const transact = (async () => undefined) as never
const dialect = 'sqlite' as const

/** Calls with an option too many, and the name of their argument. */
const CALLS: readonly (readonly [name: string, argument: string, call: (opened: Opened) => unknown])[] = [
  [
    'counters of a sink',
    'options',
    ({ redis, database }) => redis.counters('a', { sink: sqlite(database, TARGET), ...ODD } as never),
  ],
  [
    'counters of events',
    'options',
    ({ redis, database }) => redis.counters('a', { events: sqliteEvents(database, EVENTS), ...ODD } as never),
  ],
  [
    'counters of an outbox',
    'options',
    ({ redis, database }) => redis.counters('a', { outbox: sqliteOutbox(database, TARGET), ...ODD } as never),
  ],
  ['increment', 'options', ({ counters }) => counters.increment(1, 1, { ...ODD } as never)],
  ['incrementMany', 'items[1]', ({ counters }) => counters.incrementMany([{ id: 1 }, { id: 2, ...ODD }])],
  ['flush', 'options', ({ counters }) => counters.flush({ ...ODD } as never)],
  ['flushEvery', 'options', ({ counters }) => counters.flushEvery('1s', { ...ODD } as never)],
  ['flush of events', 'options', ({ votes }) => votes.flush({ ...ODD } as never)],
  ['flushEvery of events', 'options', ({ votes }) => votes.flushEvery('1s', { ...ODD } as never)],
  ['flush of an outbox', 'options', ({ stock }) => stock.flush({ ...ODD } as never)],
  ['flushEvery of an outbox', 'options', ({ stock }) => stock.flushEvery('1s', { ...ODD } as never)],
  ['add', 'addition', ({ stock, database }) => stock.add(database, { id: 1, idempotencyKey: 'a', ...ODD })],
  ['sqlite', 'target', ({ database }) => sqlite(database, { ...TARGET, ...ODD })],
  ['sqliteEvents', 'options', ({ database }) => sqliteEvents(database, { ...EVENTS, ...ODD })],
  [
    'the target of sqliteEvents',
    'target',
    ({ database }) => sqliteEvents(database, { ...EVENTS, target: { ...TARGET, ...ODD } }),
  ],
  ['sqliteOutbox', 'options', ({ database }) => sqliteOutbox(database, { ...TARGET, ...ODD })],
  ['fromTransaction', 'target', () => fromTransaction(transact, { dialect, ...TARGET, ...ODD })],
  ['eventsFromTransaction', 'options', () => eventsFromTransaction(transact, { dialect, ...EVENTS, ...ODD })],
  ['outboxFromTransaction', 'options', () => outboxFromTransaction(transact, { dialect, ...TARGET, ...ODD })],
]

test.each(CALLS)('%s refuses an option that it does not know', async (_, argument, call) => {
  const opened = open()

  const error: unknown = await new Promise((resolve) => resolve(call(opened))).catch(
    (thrown: unknown) => thrown,
  )

  expect(error).toBeInstanceOf(InvalidArgumentError)
  expect(error).toMatchObject({ argument: `${argument}.odd` })
})
