// Where feeds come from: many producers on one feed, by WATCH with retries, by Zaqar's script, by ours.

import type { Redis } from 'ioredis'
import type { Bench, CompareOptions } from '../harness/bench.ts'
import type { Row } from '../harness/print.ts'
import type { Round } from '../harness/round.ts'
import { deviation, largest, mean, median, percentile } from '../harness/statistics.ts'
import { PerilunePoster } from './perilune-poster.ts'
import { BODY, type Poster } from './poster.ts'
import { LuaPoster } from './zaqar-lua.ts'
import { WatchPoster } from './zaqar-watch.ts'

const PRODUCERS = [1, 16, 256, 3000]
const QUICK_PRODUCERS = [1, 16]
const ROUNDS = 5
const PERILUNE = 'Perilune'

interface Measured {
  readonly row: Row
  readonly callsPerSecond: number
  readonly p99ToMean: number
  readonly errors: number
}

export async function tellStory(bench: Bench, client: Redis): Promise<void> {
  const watch = (connections: number, backoff: boolean): Poster =>
    new WatchPoster(bench.port, { connections, backoff })
  const posters: Record<string, Poster> = {
    WATCH: watch(256, false),
    'WATCH, backoff': watch(256, true),
    'WATCH, 16 connections': watch(16, false),
    'Zaqar Lua': await LuaPoster.open(bench.port, 'one for all'),
    [PERILUNE]: await PerilunePoster.open(bench.port),
  }
  let last = new Map<string, Measured>()
  for (const producers of bench.quick ? QUICK_PRODUCERS : PRODUCERS) {
    const options = { inFlight: producers, perRound: Math.max(2000, 10 * producers), limitMs: 2000 }
    last = await measure(bench, client, posters, [BODY], options)
    bench.report(
      `${producers} concurrent producers on one feed`,
      [...last.values()].map(({ row }) => row),
    )
  }
  judge(bench, last)
  for (const poster of Object.values(posters)) await poster.close()
}

/** Posts of several messages: one ZADD a message, one for all, one append for all. */
export async function comparePosts(bench: Bench, client: Redis): Promise<void> {
  const posters: Record<string, Poster> = {
    'Zaqar Lua, a ZADD each': await LuaPoster.open(bench.port, 'one each'),
    'Zaqar Lua, one ZADD': await LuaPoster.open(bench.port, 'one for all'),
    [PERILUNE]: await PerilunePoster.open(bench.port),
  }
  for (const size of [20, 100]) {
    const bodies = Array.from({ length: size }, () => BODY)
    const results = await measure(bench, client, posters, bodies, { inFlight: 16, perRound: 400 })
    bench.report(
      `posts of ${size} messages, 16 producers`,
      [...results.values()].map(({ row }) => row),
    )
  }
  for (const poster of Object.values(posters)) await poster.close()
}

async function measure(
  bench: Bench,
  client: Redis,
  posters: Record<string, Poster>,
  bodies: readonly string[],
  options: CompareOptions,
): Promise<Map<string, Measured>> {
  const errors = new Map<Poster, number>()
  const retriesBefore = new Map(Object.values(posters).map((poster) => [poster, poster.retries]))
  const variants = Object.values(posters).map((poster) => ({
    before: () => client.flushall(),
    call: () => poster.post(bodies).catch(() => errors.set(poster, (errors.get(poster) ?? 0) + 1)),
  }))
  const rounds = await bench.rounds(variants, { rounds: ROUNDS, ...options })
  return new Map(
    Object.entries(posters).map(([variant, poster], at) => {
      const retries = poster.retries - (retriesBefore.get(poster) ?? 0)
      return [variant, toMeasured(variant, rounds[at] ?? [], retries, errors.get(poster) ?? 0)]
    }),
  )
}

function toMeasured(variant: string, rounds: readonly Round[], retries: number, errors: number): Measured {
  const latenciesMs = rounds.flatMap((round) => [...round.latenciesMs])
  const meanMs = mean(latenciesMs)
  const p99Ms = percentile(latenciesMs, 0.99)
  const callsPerSecond = median(rounds.map((round) => round.callsPerSecond))
  const row = {
    variant,
    callsPerSecond,
    meanMs,
    stdevMs: deviation(latenciesMs),
    p99Ms,
    maxMs: largest(latenciesMs),
    retries: retries / (latenciesMs.length * (1 + 1 / rounds.length)),
    errors,
    serverCpuUs: median(rounds.map((round) => round.cpuUs)),
    clientCpuUs: median(rounds.map((round) => round.clientCpuUs)),
  }
  return { row, callsPerSecond, p99ToMean: p99Ms / meanMs, errors }
}

/** Against the best of the WATCH variants. */
function judge(bench: Bench, results: ReadonlyMap<string, Measured>): void {
  const ours = results.get(PERILUNE)
  const watches = [...results].filter(([name]) => name.startsWith('WATCH'))
  const best = largest(watches.map(([, { callsPerSecond }]) => callsPerSecond))
  if (ours === undefined) return
  const most = bench.quick ? QUICK_PRODUCERS.at(-1) : PRODUCERS.at(-1)
  bench.judge(
    `${most} producers: throughput against WATCH`,
    { [PERILUNE]: ours.callsPerSecond / best },
    { atLeast: 10 },
  )
  bench.judge(`${most} producers: p99 against mean`, { [PERILUNE]: ours.p99ToMean }, { atMost: 4 })
  bench.judge(`${most} producers: errors`, { [PERILUNE]: ours.errors }, { atMost: 0 })
}
