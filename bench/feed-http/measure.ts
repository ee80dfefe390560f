// One kind of request at one number of connections, round by round.

import type { Row } from '../harness/print.ts'
import { cpuOf } from '../harness/server-time.ts'
import { deviation, largest, mean, median, percentile } from '../harness/statistics.ts'
import type { Generator } from './generator.ts'
import type { Work } from './job.ts'
import type { Target } from './target.ts'

export interface Measuring {
  readonly target: Target
  /** Of the Redis below the target; null for one that was not started here. */
  readonly redisPid: number | null
}

export interface Measured extends Row {
  readonly requestsPerSecond: number
  readonly meanMs: number
  readonly p99Ms: number
  readonly errors: number
  /** CPU time of the service and of Redis for one request. */
  readonly serviceUs: number
  readonly redisUs: number
}

export interface Round {
  readonly latenciesMs: Float64Array
  readonly requestsPerSecond: number
  readonly errors: number
  readonly serviceUs: number
  readonly redisUs: number
  readonly clientUs: number
}

export async function measureRound(
  generator: Generator,
  { target, redisPid }: Measuring,
  work: Work,
): Promise<Round> {
  const cpuUs = (): [service: number, redis: number] => [
    target.cpuUs(),
    redisPid === null ? Number.NaN : cpuOf(redisPid),
  ]
  let before = cpuUs()
  const load = await generator.run(
    { host: target.host, port: target.port, ...work },
    () => (before = cpuUs()),
  )
  const after = cpuUs()
  const done = load.latenciesMs.length
  return {
    latenciesMs: load.latenciesMs,
    requestsPerSecond: done / load.seconds,
    errors: load.errors,
    serviceUs: (after[0] - before[0]) / done,
    redisUs: (after[1] - before[1]) / done,
    clientUs: load.clientCpuUs,
  }
}

/** Medians of the rounds; latencies over all of them. */
export function summarize(variant: string, rounds: readonly Round[]): Measured {
  const latenciesMs = rounds.flatMap((round) => [...round.latenciesMs])
  const middle = (of: (round: Round) => number): number => median(rounds.map(of))
  return {
    variant,
    requestsPerSecond: middle((round) => round.requestsPerSecond),
    p50Ms: median(latenciesMs),
    meanMs: mean(latenciesMs),
    stdevMs: deviation(latenciesMs),
    p99Ms: percentile(latenciesMs, 0.99),
    maxMs: largest(latenciesMs),
    errors: rounds.reduce((sum, round) => sum + round.errors, 0),
    serviceUs: middle((round) => round.serviceUs),
    redisUs: middle((round) => round.redisUs),
    clientUs: middle((round) => round.clientUs),
  }
}
