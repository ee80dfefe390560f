// Values that are there: what a cache adds to GET and JSON.parse.

import type { Bench, CompareOptions, Measured, Variant } from '../harness/bench.ts'
import { HITTERS } from './contenders.ts'
import { IN_PROCESS, PERILUNE, type Source, toEntry } from './contender.ts'
import { Keys } from './keys.ts'
import { naive } from './naive.ts'
import { openAll } from './open.ts'

const KEYS = 1000
const KEEP_MS = 3_600_000
const ROUNDS = 9

export async function compareHits(bench: Bench): Promise<void> {
  const { sources } = await openAll(bench.port, HITTERS, { freshMs: KEEP_MS })
  const keys = new Keys(KEYS)
  const alone: CompareOptions = { rounds: ROUNDS, perRound: bench.quick ? 200 : 2000 }
  const crowded: CompareOptions = {
    rounds: ROUNDS,
    perRound: bench.quick ? 2000 : 20_000,
    inFlight: 100,
  }
  try {
    for (const source of sources.values()) await fill(source, keys)
    const inTurn = hitting(sources, (turn) => keys.at(turn % KEYS))
    await bench.compare(`hits, ${KEYS} keys in turn, one at a time`, inTurn, alone)
    const distinct = await bench.compare(`hits, ${KEYS} keys in turn, 100 in flight`, inTurn, crowded)
    const drawn = Array.from({ length: KEYS * 100 }, () => keys.byZipf())
    const popular = hitting(sources, (turn) => drawn[turn % drawn.length] ?? '')
    const zipf = await bench.compare(`hits, ${KEYS} keys by Zipf's law, 100 in flight`, popular, crowded)
    judge(bench, 'distinct keys', distinct, PERILUNE, 0.9)
    judge(bench, "keys by Zipf's law", zipf, IN_PROCESS, 5)
  } finally {
    for (const source of sources.values()) await source.close()
  }
}

async function fill(source: Source, keys: Keys): Promise<void> {
  for (const key of keys.all) await source.get(key, async () => toEntry(key))
}

function hitting(
  sources: ReadonlyMap<string, Source>,
  keyOf: (turn: number) => string,
): Record<string, Variant> {
  return Object.fromEntries(
    [...sources].map(([name, source]) => {
      let turn = 0
      return [name, () => source.get(keyOf(turn++), missed)]
    }),
  )
}

async function missed(): Promise<never> {
  throw new Error('a hit was a miss')
}

function judge(
  bench: Bench,
  which: string,
  measured: ReadonlyMap<string, Measured>,
  who: string,
  atLeast: number,
): void {
  const [ours, floor] = [measured.get(who), measured.get(naive.name)]
  if (ours === undefined || floor === undefined) return
  bench.judge(
    `hits, ${which}, 100 in flight: calls per second against GET and JSON.parse`,
    { [who]: ours.callsPerSecond / floor.callsPerSecond },
    { atLeast },
  )
}
