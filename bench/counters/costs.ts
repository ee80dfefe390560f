// What it costs to write behind while votes come in: beside the same without. A difference of few in a hundred needs more rounds
// than a ratio does, and no order: there and back again, so that what a round leaves to the next one meets both.

import type { Bench } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import type { Round } from '../harness/round.ts'
import { median, percentile } from '../harness/statistics.ts'
import { EVERY_MS } from './contender.ts'
import { CONNECTIONS, type Kind } from './database.ts'
import { type Left, type Mix, voting } from './rounds.ts'
import type { Staged } from './stage.ts'
import { judgeCosts, mostOf } from './verdicts.ts'

/** Of each in all rounds, unless those would be too few. */
const TIME_MS = 15_000
/** So often is written behind in a round. */
const TIMES = 5
const FEWEST_ROUNDS = 9

export type Pair = readonly [writes: Staged, waits: Staged]

export async function compareCosts(
  bench: Bench,
  kind: Kind,
  pairs: readonly Pair[],
  mix: Mix,
): Promise<void> {
  const where = `${kind}, ${mix.name}`
  const costs = new Map<string, number>()
  const rows: Row[] = []
  for (const [writes, waits] of pairs) {
    const measured = await measure(bench, [writes, waits], mix)
    costs.set(writes.contender.name, measured.percent)
    rows.push({ variant: writes.contender.name, ...measured })
  }
  bench.report(`${where}: what writing behind costs, % of votes per second`, rows)
  judgeCosts(bench, where, costs)
}

async function measure(bench: Bench, [writes, waits]: Pair, { items }: Mix) {
  const order = [writes, waits, waits, writes]
  const left: Left[] = []
  const variants = order.map((each) => voting(each, items, left))
  const limitMs = TIMES * (writes.contender.everyMs ?? EVERY_MS)
  const rounds = Math.max(FEWEST_ROUNDS, TIME_MS / limitMs)
  const options = { rounds, perRound: Infinity, inFlight: CONNECTIONS, limitMs }
  const [first = [], second = [], third = [], fourth = []] = await bench.rounds(variants, options)
  const [during, after] = [both(first, fourth), both(second, third)]
  const percents = during.map((rate, at) => (1 - rate / (after[at] ?? Number.NaN)) * 100)
  return {
    votesPerSecond: median(during),
    without: median(after),
    percent: median(percents),
    lowerQuartile: percentile(percents, 0.25),
    upperQuartile: percentile(percents, 0.75),
    drift: mostOf(left.map(({ drift }) => drift)),
    errors: mostOf(left.map(({ errors }) => errors)),
  }
}

/** Votes per second of two rounds. */
function both(rounds: readonly Round[], others: readonly Round[]): number[] {
  return rounds.map(
    ({ callsPerSecond }, at) => (callsPerSecond + (others[at]?.callsPerSecond ?? Number.NaN)) / 2,
  )
}
