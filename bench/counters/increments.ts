// Counting alone, without a database in the way: what Redis and the client do for an increment.

import { Redis } from 'ioredis'
import type { Bench, CompareOptions, Measured, Variant } from '../harness/bench.ts'
import { builtLibrary } from '../harness/built.ts'
import { zipf } from '../harness/zipf.ts'
import { DELTA, INCR, LEAST } from './contender.ts'
import type { Database } from './database.ts'
import { leastIncrements } from './least-increments.ts'
import { MIXES } from './rounds.ts'

const OPTIONS: CompareOptions = { rounds: 9, perRound: 20_000, inFlight: 100 }

export async function compareIncrements(bench: Bench, database: Database): Promise<void> {
  const { perilune, ioredis } = await builtLibrary()
  await database.prepare('CREATE TABLE counted (id BIGINT PRIMARY KEY, value BIGINT NOT NULL)')
  const [plain, client] = [new Redis({ port: bench.port, enableAutoPipelining: true }), new Redis(bench.port)]
  const byHand = new Redis(bench.port)
  const least = await leastIncrements(byHand)
  const library = perilune(ioredis(client), { namespace: 'bench' })
  const counters = library.counters('counted', {
    sink: await database.sink({ table: 'counted' }),
    fsyncGrace: '0s',
  })
  const flushing = counters.flushEvery('1s')
  for (const { name, items } of MIXES) {
    const variants = {
      [INCR]: drawn(items, (item) => plain.incr(`incr:${item}`)),
      [LEAST]: drawn(items, least),
      [DELTA]: drawn(items, (item) => counters.increment(item)),
    }
    const measured = await bench.compare(`increments of ${name}, 100 in flight`, variants, OPTIONS)
    judge(bench, name, measured)
  }
  await flushing.close()
  await library.close()
  for (const each of [plain, client, byHand]) each.disconnect()
}

function drawn(items: number, count: (item: number) => Promise<unknown>): Variant {
  const next = zipf(items)
  const order = Array.from({ length: 100_000 }, next)
  let turn = 0
  return () => count(order[turn++ % order.length] ?? 0)
}

function judge(bench: Bench, name: string, measured: ReadonlyMap<string, Measured>): void {
  const against = (variant: string): number =>
    (measured.get(variant)?.callsPerSecond ?? Number.NaN) / (measured.get(INCR)?.callsPerSecond ?? Number.NaN)
  bench.judge(
    `increments of ${name}, 100 in flight: calls per second against ${INCR}`,
    { [LEAST]: against(LEAST), [DELTA]: against(DELTA) },
    { atLeast: 2 },
  )
}
