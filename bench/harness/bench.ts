// What a bench gets to work with.

import type { Redis } from 'ioredis'
import type { Print, Row } from './print.ts'
import type { Table } from './recorded.ts'
import { type Round, type RoundTerms, runRound, type Steps } from './round.ts'
import { median, percentile } from './statistics.ts'

/** One call, or a call with what stands around its rounds. */
export type Variant = (() => Promise<unknown>) | Steps

export interface CompareOptions {
  /** Default 15. */
  rounds?: number
  /** Calls of each variant in each round; default 200. */
  perRound?: number
  /** Calls under way at the same time; default 1. */
  inFlight?: number
  /** A round begins no more calls after this time; default: none ends a round early. */
  limitMs?: number
}

export interface Measured {
  readonly callsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Inside the server's commands, for one call. */
  readonly serverUs: number
  /** CPU time of the whole server process for one call. */
  readonly serverCpuUs: number
  /** CPU time of this process for one call, the bench's own share included. */
  readonly clientCpuUs: number
}

export type Goal = { readonly atLeast: number } | { readonly atMost: number }

/** A file `<name>.bench.ts` exports `run`. */
export interface BenchModule {
  run(bench: Bench): Promise<void>
  /** What `--charts` writes into docs/charts: file names and contents, from what `run` has printed. */
  charts?(tables: readonly Table[]): Record<string, string>
  /** What `--write-results` writes into docs/proof instead of RESULTS.md. `about`: where it was measured. */
  proofs?(tables: readonly Table[], about: string): Record<string, string>
}

const QUICK_ROUNDS = 3
const QUICK_MS = 1000

export class Bench {
  readonly port: number
  /** Of the server. */
  readonly pid: number
  /** True when it matters only that the bench runs: about a second a row, small data. */
  readonly quick: boolean
  readonly #client: Redis
  readonly #print: Print

  /** `client` measures; the bench opens others for what is measured. */
  constructor(server: { port: number; pid: number }, client: Redis, print: Print, quick: boolean) {
    this.port = server.port
    this.pid = server.pid
    this.#client = client
    this.#print = print
    this.quick = quick
  }

  /**
   * Runs the variants in turn, round by round, after one round that does not count, and prints a row
   * for each. The first variant is the one that the others are compared with.
   */
  async compare(
    title: string,
    variants: Readonly<Record<string, Variant>>,
    options: CompareOptions = {},
  ): Promise<Map<string, Measured>> {
    const names = Object.keys(variants)
    const rounds = await this.rounds(Object.values(variants), options)
    const rows = names.map((variant, at) => toRow(variant, rounds[at] ?? [], rounds[0] ?? []))
    this.#print(title, rows)
    return new Map(names.map((name, at) => [name, summary(rounds[at] ?? [])]))
  }

  /** Prints rows that the bench measured itself. */
  report(title: string, rows: readonly Row[]): void {
    this.#print(title, rows)
  }

  /** Prints whether values reach a goal; nothing when there are none. */
  judge(target: string, values: Readonly<Record<string, number>>, goal: Goal): void {
    const said = 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
    const rows = Object.entries(values).map(([variant, value]) => {
      const met = 'atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost
      return { variant, target, value, goal: said, met }
    })
    if (rows.length > 0) this.#print(target, rows)
  }

  /** The same bench on another server; `client` measures that one. */
  on(server: { port: number; pid: number }, client: Redis): Bench {
    return new Bench(server, client, this.#print, this.quick)
  }

  /** Runs the variants in turn, round by round, after one round that does not count. */
  async rounds(variants: readonly Variant[], options: CompareOptions = {}): Promise<Round[][]> {
    const { rounds = 15, perRound = 200, inFlight = 1, limitMs = Infinity } = options
    const count = this.quick ? QUICK_ROUNDS : rounds
    const quickMs = this.quick ? QUICK_MS / QUICK_ROUNDS : Infinity
    const terms: RoundTerms = { calls: perRound, limitMs: Math.min(limitMs, quickMs), inFlight }
    const results: Round[][] = variants.map(() => [])
    for (let round = 0; round <= count; round++) {
      for (const [at, variant] of variants.entries()) {
        const result = await runRound(toSteps(variant), terms, this.#client, this.pid)
        if (round > 0) results[at]?.push(result)
      }
    }
    return results
  }
}

function toSteps(variant: Variant): Steps {
  return typeof variant === 'function' ? { call: variant } : variant
}

function toRow(variant: string, rounds: readonly Round[], first: readonly Round[]): Row {
  // Round against round, so that a disturbance of the machine meets both.
  const ratios = rounds.map((round, at) => round.insideUs / (first[at]?.insideUs ?? Number.NaN))
  return { variant, ...summary(rounds), serverRatio: median(ratios) }
}

function summary(rounds: readonly Round[]): Measured {
  const latenciesMs = rounds.flatMap((round) => round.latenciesMs)
  return {
    callsPerSecond: median(rounds.map((round) => round.callsPerSecond)),
    p50Ms: median(latenciesMs),
    p99Ms: percentile(latenciesMs, 0.99),
    serverUs: median(rounds.map((round) => round.insideUs)),
    serverCpuUs: median(rounds.map((round) => round.cpuUs)),
    clientCpuUs: median(rounds.map((round) => round.clientCpuUs)),
  }
}
