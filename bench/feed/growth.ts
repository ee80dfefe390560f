// What a call costs while the feed grows, and what a message occupies.

import type { Redis } from 'ioredis'
import type { Feed, Log } from '../feed-layout/contender.ts'
import { type Costs, measureCosts } from '../feed-layout/costs.ts'
import { type Filled, fill } from '../feed-layout/fill.ts'
import { rawStream } from '../feed-layout/raw.ts'
import type { Bench } from '../harness/bench.ts'

const SIZES = [1000, 10_000, 100_000, 1_000_000]
const QUICK_SIZES = [1000, 10_000]
const OURS = 'Perilune'

export const GROWTH = 'µs inside the server for one call, by messages in the feed'

export async function measureGrowth(bench: Bench, client: Redis, feed: Feed): Promise<void> {
  const sizes = bench.quick ? QUICK_SIZES : SIZES
  const costs: Costs[] = []
  for (const size of sizes) {
    await client.flushall()
    const filled: Filled[] = []
    for (const [name, log] of [
      ['raw Stream', rawStream(client)],
      [OURS, feed],
    ] satisfies [string, Log][]) {
      filled.push(await fill(client, name, log, size))
    }
    costs.push(await measureCosts(bench, { [OURS]: feed }, filled, size))
  }
  const calls = Object.keys(costs[0] ?? {}).filter((call) => call.endsWith(OURS))
  bench.report(
    GROWTH,
    calls.map((variant) => {
      const bySize = sizes.map((size, at) => [`${size} messages`, costs[at]?.[variant] ?? Number.NaN])
      return { variant: variant.replace(`, ${OURS}`, ''), ...Object.fromEntries(bySize) }
    }),
  )
  const growth = calls.map((call) => [
    call,
    (costs.at(-1)?.[call] ?? Number.NaN) / (costs[0]?.[call] ?? Number.NaN),
  ])
  bench.judge('the cost of a call does not grow with the feed', Object.fromEntries(growth), { atMost: 1.5 })
}

/** Call ids are on; no message has an idempotency key. */
export async function measureMemory(bench: Bench, client: Redis, feeds: Record<string, Feed>): Promise<void> {
  const size = bench.quick ? 10_000 : 100_000
  const raw = await occupied(client, 'raw Stream', rawStream(client), size)
  const ours: Filled[] = []
  for (const [name, feed] of Object.entries(feeds)) ours.push(await occupied(client, name, feed, size))
  bench.report(
    `memory, ${size} messages of 100 bytes`,
    [raw, ...ours].map(({ memory }) => memory),
  )
  const ratios = ours.map(({ name, memory }) => [
    name,
    Number(memory['bytesPerMessage']) / Number(raw.memory['bytesPerMessage']),
  ])
  bench.judge('bytes a message against a raw Stream entry', Object.fromEntries(ratios), { atMost: 1.6 })
}

async function occupied(client: Redis, name: string, log: Log, size: number): Promise<Filled> {
  await client.flushall()
  return fill(client, name, log, size)
}
