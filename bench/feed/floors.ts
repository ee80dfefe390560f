// What the library adds to the commands that it cannot do without.

import { Redis } from 'ioredis'
import type { Feed, Perilune } from '../../src/index.ts'
import type { Bench, Measured, Variant } from '../harness/bench.ts'
import { builtLibrary } from '../harness/built.ts'
import { BatchedXadd } from './batched-xadd.ts'
import { BODY, LIFE_S } from './poster.ts'

const OURS = 'append'
const RAW = 'raw XADD'

/**
 * As an entry of XADD, a message of the judged feed stays until it is removed and says nothing but its
 * body. The rounds are long: short ones measure how the batches start and end.
 */
export async function compareAppends(bench: Bench, library: Perilune): Promise<void> {
  // Auto-pipelining is how ioredis itself sends the calls of one tick together.
  const client = new Redis({ port: bench.port, enableAutoPipelining: true })
  const { text } = await builtLibrary()
  const batched = await BatchedXadd.open(client, 'batched:log')
  const hash = String(await client.script('LOAD', 'return 1'))
  const living = library.feed('floors-that-live', { codec: text, ttl: `${LIFE_S}s`, origin: 'bench' })
  const variants: Record<string, Variant> = {
    [RAW]: { before: () => client.del('raw:log'), call: () => client.xadd('raw:log', '*', 'b', BODY) },
    'empty script': () => client.evalsha(hash, 0),
    'floor: a script of XADDs': { before: () => client.del('batched:log'), call: () => batched.append(BODY) },
    [OURS]: appending(library.feed('floors', { codec: text })),
    'append, with ttl and origin': appending(living),
  }
  const single = await bench.compare('append, one at a time', variants, { perRound: 2000 })
  const many = await bench.compare('append, 100 in flight', variants, { perRound: 100_000, inFlight: 100 })
  client.disconnect()
  const rate = ratio(many, 'callsPerSecond')
  bench.judge('append, 100 in flight: calls per second against raw XADD', { [OURS]: rate }, { atLeast: 2 })
  bench.judge(
    'append, one at a time: p50 against raw XADD',
    { [OURS]: ratio(single, 'p50Ms') },
    { atMost: 1.3 },
  )
}

/** Each round begins with an empty feed that has seen a few messages. */
function appending(feed: Feed<string>): Variant {
  const before = async (): Promise<void> => {
    await feed.clear()
    for (let at = 0; at < 20; at++) await feed.append(BODY)
  }
  return { before, call: () => feed.append(BODY) }
}

function ratio(measured: ReadonlyMap<string, Measured>, what: keyof Measured): number {
  return (measured.get(OURS)?.[what] ?? Number.NaN) / (measured.get(RAW)?.[what] ?? Number.NaN)
}
