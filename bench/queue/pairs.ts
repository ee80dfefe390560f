// One client that pops a job and completes it, again and again: the measurement of the qless article.

import type { Bench, CompareOptions, Measured, Variant } from '../harness/bench.ts'
import { fill } from './jobs.ts'
import { judgeTimes } from './judges.ts'
import { qless } from './qless.ts'
import { type Stands, type With, withStands } from './stands.ts'

type Pairs = ReadonlyMap<string, Measured>

const ALONE: CompareOptions = { rounds: 5, perRound: 2000 }

export async function comparePairs(bench: Bench): Promise<void> {
  await withStands(bench, async (stands) => judge(bench, await popAll(bench, stands, '')))
}

/** The same on a server that writes to a disk. */
export async function comparePairsOnDisk(bench: Bench, where: string): Promise<void> {
  await withStands(bench, async (stands) => void (await popAll(bench, stands, where)))
}

function popAll(bench: Bench, { offering, empty }: Stands, where: string): Promise<Pairs> {
  const sources = [...offering('pop')]
  const variants = Object.fromEntries(sources.map(([name, source]) => [name, popping(source, empty)]))
  return bench.compare(`pop and complete, one client, one at a time${where}`, variants, ALONE)
}

function popping(source: With<'pop'>, empty: () => Promise<unknown>): Variant {
  return {
    before: (calls) => fill(source, calls),
    call: source.popNext ?? (async () => (await source.pop())()),
    after: empty,
  }
}

function judge(bench: Bench, results: Pairs): void {
  const target = 'pop and complete, one at a time: pairs per second against qless'
  judgeTimes(bench, target, results, qless.name, ({ callsPerSecond }) => callsPerSecond, { atLeast: 4 })
}
