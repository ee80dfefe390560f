// A process of the tests of counters, which counts or flushes on command and reports the outcome.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { type Duration, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import type { SqliteDatabase } from 'perilune/sqlite'
import { type Address, openSink } from './counters-address.ts'
import { entryOf, type Outcome } from './counters-books.ts'
import { count } from './counters-counting.ts'

export interface WorkerOrder {
  readonly redisPort: number
  readonly address: Address
  readonly name: string
  readonly fsyncGrace?: Duration
  /** Of calls. */
  readonly deadline?: Duration
  /** Where it stalls for ever, on a database of its own. */
  readonly standsAt?: { readonly sql: string; readonly when: 'before' | 'after' }
  /** It counts each increment whose number is `first`, `first + step` and so on. */
  readonly first?: number
  readonly step?: number
}

/** `flush`: once; `flush-on`: until it ends; `count`: until `stop`; `first`: so many increments of one id at once. */
export type Command =
  | { do: 'flush' | 'flush-on' | 'count' | 'stop' }
  | { do: 'first'; id: string; times: number }

export type Said =
  | { ready: true }
  | { at: string }
  | { flushed: true }
  | { failed: string }
  | { stopped: true }
  | { counted: [n: number, outcome: Outcome][] }
  | { values: string[] }

const order: WorkerOrder = JSON.parse(process.argv[2] ?? '')
process.once('disconnect', () => process.exit(1)) // its parent has died

const client = new Redis({ port: order.redisPort, retryStrategy: () => 20 })
client.on('error', () => undefined)
const redis = perilune(ioredis(client), { namespace: 'faults', deadline: order.deadline ?? '5s' })
const { sink } = openSink(order.address, standing)
const counters = redis.counters(order.name, { sink, fsyncGrace: order.fsyncGrace ?? '0s' })
const stop = new AbortController()

process.on(
  'message',
  (command: Command) => void act(command).catch((error: unknown) => say({ failed: String(error) })),
)
// However little time its calls have later.
await perilune(ioredis(client), { deadline: '60s' }).preload()
await sink.prepare()
say({ ready: true })

async function act(command: Command): Promise<void> {
  if (command.do === 'flush') await counters.flush().then(() => say({ flushed: true }))
  else if (command.do === 'flush-on') counters.flushEvery('10ms')
  else if (command.do === 'count') await countOn()
  else if (command.do === 'first') say({ values: await incrementAtOnce(command.id, command.times) })
  else stop.abort()
}

async function countOn(): Promise<void> {
  const { first = 0, step = 1 } = order
  let at = first - step
  const next = () => entryOf((at += step))
  let counted: [number, Outcome][] = []
  const reporting = setInterval(() => say({ counted: counted.splice(0) }), 20)
  await count(
    counters,
    { lanes: 4, restMs: 2, next, tell: (n, outcome) => counted.push([n, outcome]) },
    stop.signal,
  )
  clearInterval(reporting)
  say({ counted })
  say({ stopped: true })
}

async function incrementAtOnce(id: string, times: number): Promise<string[]> {
  const values = await Promise.all(Array.from({ length: times }, () => counters.increment(id)))
  return values.map(String)
}

/** The database, which stalls when the order says so: a file has no proxy. */
function standing(database: SqliteDatabase): SqliteDatabase {
  const { standsAt } = order
  if (standsAt === undefined) return database
  const through = async (sql: string, run: () => unknown): Promise<unknown> => {
    const isThere = sql.includes(standsAt.sql)
    if (isThere && standsAt.when === 'before') await stand(sql)
    const result = await run()
    if (isThere && standsAt.when === 'after') await stand(sql)
    return result
  }
  return {
    prepare: (sql) => through(sql, () => database.prepare(sql)),
    exec: (sql) => through(sql, () => database.exec(sql)),
  }
}

async function stand(sql: string): Promise<void> {
  say({ at: sql })
  await sleep(3_600_000)
}

function say(what: Said): void {
  process.send?.(what)
}
