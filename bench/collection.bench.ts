// Question: what does it cost to replace a cached list in one step?
// Expectation: within a fifth of the pipeline of the same commands, which can double it, at 10,000 items; more at 10
// items, where a script call costs more than three commands; and no script of more than 10 ms.

import { Redis } from 'ioredis'
import { floor, multi, perilune, pipeline, type Replacing } from './collection/contenders.ts'
import { longestScriptMs, watchScripts } from './collection/slowest.ts'
import type { Bench } from './harness/bench.ts'

const SIZES = [
  { size: 10, perRound: 200 },
  { size: 1000, perRound: 50 },
  { size: 10_000, perRound: 10 },
] as const

export async function run(bench: Bench): Promise<void> {
  const connections: Redis[] = []
  const connect = (): Redis => {
    const client = new Redis(bench.port)
    connections.push(client)
    return client
  }
  const judge = connect()
  await watchScripts(judge)
  const ways: Replacing[] = [
    pipeline(connect()),
    multi(connect()),
    await floor(connect()),
    await perilune(connect()),
  ]
  const ratios: Record<string, number> = {}
  for (const { size, perRound } of SIZES) {
    const items = Array.from({ length: size }, (_, at) => `friend-${at}`)
    const variants = Object.fromEntries(ways.map(({ name, replace }) => [name, () => replace(items)]))
    const measured = await bench.compare(`${size} items, one replace at a time`, variants, { perRound })
    const [first, , least, ours] = ways.map(({ name }) => measured.get(name)?.p50Ms ?? Number.NaN)
    ratios[`${size} items, pipeline`] = (ours ?? Number.NaN) / (first ?? Number.NaN)
    ratios[`${size} items, floor`] = (ours ?? Number.NaN) / (least ?? Number.NaN)
  }
  const slowest = await longestScriptMs(judge)
  bench.report(
    'p50 of Perilune against the others',
    Object.entries(ratios).map(([variant, value]) => ({ variant, value })),
  )
  bench.judge(
    'p50 of a replace against the pipeline of the same commands',
    { '10,000 items': ratios['10000 items, pipeline'] ?? Number.NaN },
    { atMost: 1.2 },
  )
  bench.judge('longest script, ms', { Perilune: slowest }, { atMost: 10 })
  await Promise.all(ways.map(({ close }) => close()))
  for (const client of connections) client.disconnect()
}
