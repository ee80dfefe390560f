// The same queries to all contenders, at several sizes and numbers of clients, each client on a connection of its own.

import { Redis } from 'ioredis'
import type { Bench, Measured, Variant } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import { type Client, type Contender, type Member, PERILUNE } from './contender.ts'
import { makeMembers, makeQueries } from './members.ts'
import { originLua, originWatch, plainRange } from './origin.ts'
import { perilune } from './perilune.ts'

const SIZES = [100_000, 1_000_000]
const QUICK_SIZES = [100_000]
const CLIENTS = [1, 2, 5, 10]
const PER_ROUND = 2000
// Of the origin's WATCH, which ten clients take three times as long for.
const MOST_ROUND_MS = 1000
// The origin's members are those of one sorted set, which the three share.
const CONTENDERS: readonly Contender[] = [plainRange, originWatch, originLua, perilune]

export async function compareSizes(bench: Bench): Promise<void> {
  for (const size of bench.quick ? QUICK_SIZES : SIZES) await compareAt(bench, makeMembers(size))
}

async function compareAt(bench: Bench, members: readonly Member[]): Promise<void> {
  const connections = Array.from({ length: Math.max(...CLIENTS) }, () => new Redis({ port: bench.port }))
  const [first] = connections as [Redis, ...Redis[]]
  const size = `${members.length} members`
  try {
    await first.flushall()
    const rows = [await loadInto(first, plainRange, members), await loadInto(first, perilune, members)]
    bench.report(`${size}: loaded`, rows)
    const queries = makeQueries(members, PER_ROUND)
    for (const count of CLIENTS) {
      const variants = await variantsOf(connections.slice(0, count), queries)
      const title = `${size}: ten suggestions, ${count} clients`
      const options = { perRound: PER_ROUND, inFlight: count, limitMs: MOST_ROUND_MS }
      const measured = await bench.compare(title, variants, options)
      if (count === 10) judge(bench, title, measured)
    }
    await rankLetters(bench, size, first)
  } finally {
    for (const connection of connections) connection.disconnect()
  }
}

/** Stores the members. How long it took, and what one takes. */
async function loadInto(connection: Redis, contender: Contender, members: readonly Member[]): Promise<Row> {
  const before = await memoryOf(connection)
  const began = performance.now()
  await contender.load(connection, members)
  const seconds = (performance.now() - began) / 1000
  const bytesPerMember = ((await memoryOf(connection)) - before) / members.length
  return { variant: contender.name, membersPerSecond: members.length / seconds, bytesPerMember }
}

async function memoryOf(connection: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await connection.info('memory'))?.[1])
}

async function variantsOf(
  connections: readonly Redis[],
  queries: readonly string[],
): Promise<Record<string, Variant>> {
  const variants: Record<string, Variant> = {}
  for (const contender of CONTENDERS) {
    const clients = await Promise.all(connections.map((connection) => contender.client(connection)))
    variants[contender.name] = asking(clients, queries)
  }
  return variants
}

/** Each call takes a client that is idle. */
function asking(clients: readonly Client[], queries: readonly string[]): Variant {
  const idle = [...clients]
  let turn = 0
  return async () => {
    const client = idle.pop()
    if (client === undefined) throw new Error('more calls under way than there are clients')
    try {
      return await client.suggest(queries[turn++ % queries.length] ?? '')
    } finally {
      idle.push(client)
    }
  }
}

async function rankLetters(bench: Bench, size: string, connection: Redis): Promise<void> {
  const { suggest } = await perilune.client(connection)
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  let turn = 0
  const call = (): Promise<unknown> => suggest(letters[turn++ % letters.length] ?? '')
  const title = `${size}: one letter, ranked`
  const measured = await bench.compare(title, { [PERILUNE]: call }, { perRound: PER_ROUND })
  const serverMs = (measured.get(PERILUNE)?.serverUs ?? Number.NaN) / 1000
  bench.judge(`${title}: server ms`, { [PERILUNE]: serverMs }, { atMost: 1 })
}

function judge(bench: Bench, title: string, measured: ReadonlyMap<string, Measured>): void {
  const ours = measured.get(PERILUNE)?.callsPerSecond ?? Number.NaN
  for (const [origin, atLeast] of [
    [originLua, 1.5],
    [originWatch, 12],
  ] as const) {
    const ratio = ours / (measured.get(origin.name)?.callsPerSecond ?? Number.NaN)
    bench.judge(`${title}: calls per second against ${origin.name}`, { [PERILUNE]: ratio }, { atLeast })
  }
}
