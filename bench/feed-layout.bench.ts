// Question: does a feed keep its messages in a Stream with explicit ids, or in a ZSET and a HASH?
// Expectation: the Stream needs half the memory or less, appends and pages faster, and removes about as
// fast; neither depends on the number of messages. What the shipped feed does beyond the layout (markers,
// expiry, retention, wakes, call ids) costs less than the layout itself.

import { Redis } from 'ioredis'
import type { Feed } from './feed-layout/contender.ts'
import { type Costs, measureCosts } from './feed-layout/costs.ts'
import { type Filled, fill } from './feed-layout/fill.ts'
import { measureHoles } from './feed-layout/holes.ts'
import { minimalFeed } from './feed-layout/minimal.ts'
import { rawStream } from './feed-layout/raw.ts'
import { shippedFeed } from './feed-layout/shipped.ts'
import type { Bench } from './harness/bench.ts'

const SIZES = [1000, 100_000, 1_000_000]
const QUICK_SIZES = [1000, 10_000]

export async function run(bench: Bench): Promise<void> {
  const client = new Redis(bench.port)
  const { library, feed } = await shippedFeed(client)
  try {
    const stream = await minimalFeed(client, 'stream')
    const zset = await minimalFeed(client, 'sorted-set-and-hash')
    const packed = await minimalFeed(client, 'stream-of-one-field')
    const layouts = { 'ZSET and HASH': zset, Stream: stream, 'Stream, one field': packed }
    await compareSizes(bench, client, { ...layouts, 'shipped feed': feed })
    await measureHoles(bench, client, layouts)
  } finally {
    await library.close()
    client.disconnect()
  }
}

async function compareSizes(bench: Bench, client: Redis, feeds: Record<string, Feed>): Promise<void> {
  const costs: Costs[] = []
  for (const size of bench.quick ? QUICK_SIZES : SIZES) {
    await client.flushall()
    const filled: Filled[] = []
    for (const [name, log] of Object.entries({ ...feeds, 'raw Stream': rawStream(client) })) {
      filled.push(await fill(client, name, log, size))
    }
    bench.report(
      `memory, ${size} messages of 100 bytes`,
      filled.map(({ memory }) => memory),
    )
    costs.push(await measureCosts(bench, feeds, filled, size))
  }
  judgeFlatness(bench, costs)
}

/** The cost of a call at the largest size, as a multiple of that at the smallest. */
function judgeFlatness(bench: Bench, costs: readonly Costs[]): void {
  const [smallest, largest] = [costs[0] ?? {}, costs.at(-1) ?? {}]
  const growth = Object.entries(largest).map(([name, us]) => [name, us / (smallest[name] ?? Number.NaN)])
  bench.judge('the cost of a call does not grow with the feed', Object.fromEntries(growth), { atMost: 1.5 })
}
