// One client that pops a job and completes it, again and again: the measurement of the qless article.

import type { Bench, CompareOptions, Variant } from '../harness/bench.ts'
import { fill } from './jobs.ts'
import { judgeTimes } from './judges.ts'
import { qless } from './qless.ts'
import { type With, withStands } from './stands.ts'

const ALONE: CompareOptions = { rounds: 5, perRound: 2000 }

export async function comparePairs(bench: Bench): Promise<void> {
  await withStands(bench, async ({ offering, empty }) => {
    const sources = [...offering('pop')]
    const variants = Object.fromEntries(sources.map(([name, source]) => [name, popping(source, empty)]))
    const results = await bench.compare('pop and complete, one client, one at a time', variants, ALONE)
    judgeTimes(
      bench,
      'pop and complete, one at a time: pairs per second against qless',
      results,
      qless.name,
      ({ callsPerSecond }) => callsPerSecond,
      { atLeast: 4 },
    )
  })
}

function popping(source: With<'pop'>, empty: () => Promise<unknown>): Variant {
  return {
    before: (calls) => fill(source, calls),
    call: source.popNext ?? (async () => (await source.pop())()),
    after: empty,
  }
}
