// What the library adds to the commands that it cannot do without.

import { Redis } from 'ioredis'
import type { Feed } from '../feed-layout/contender.ts'
import type { Bench, Measured, Variant } from '../harness/bench.ts'
import { BODY } from './poster.ts'

const OURS = 'append'
const RAW = 'raw XADD'

/** `feed` is the one of the library. */
export async function compareAppends(bench: Bench, feed: Feed): Promise<void> {
  // Auto-pipelining is how ioredis itself sends the calls of one tick together.
  const client = new Redis({ port: bench.port, enableAutoPipelining: true })
  const hash = String(await client.script('LOAD', 'return 1'))
  const variants: Record<string, Variant> = {
    [RAW]: () => client.xadd('raw:log', '*', 'b', BODY),
    'empty script': () => client.evalsha(hash, 0),
    [OURS]: () => feed.append([BODY]),
  }
  const single = await bench.compare('append, one at a time', variants, { perRound: 1000 })
  const many = await bench.compare('append, 100 in flight', variants, { perRound: 10_000, inFlight: 100 })
  client.disconnect()
  const rate = ratio(many, 'callsPerSecond')
  bench.judge('append, 100 in flight: calls per second against raw XADD', { [OURS]: rate }, { atLeast: 2 })
  bench.judge(
    'append, one at a time: p50 against raw XADD',
    { [OURS]: ratio(single, 'p50Ms') },
    { atMost: 1.3 },
  )
}

function ratio(measured: ReadonlyMap<string, Measured>, what: keyof Measured): number {
  return (measured.get(OURS)?.[what] ?? Number.NaN) / (measured.get(RAW)?.[what] ?? Number.NaN)
}
