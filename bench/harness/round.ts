// One round of one variant: the same call again and again.

import type { Redis } from 'ioredis'
import { measureServer } from './server-time.ts'

export interface Steps {
  /** Before each round, not measured; `calls` is how many may follow. */
  before?(calls: number): Promise<unknown>
  call(): Promise<unknown>
  /** After each round, not measured. */
  after?(): Promise<unknown>
}

export interface RoundTerms {
  readonly calls: number
  /** The round ends early after this time. */
  readonly limitMs: number
  readonly inFlight: number
}

export interface Round {
  readonly latenciesMs: readonly number[]
  readonly callsPerSecond: number
  readonly insideUs: number
  readonly cpuUs: number
  readonly clientCpuUs: number
}

/** Measures one round; the server's times are those of one call. */
export async function runRound(steps: Steps, terms: RoundTerms, client: Redis, pid: number): Promise<Round> {
  await steps.before?.(terms.calls)
  const serverTime = await measureServer(client, pid)
  const clientTime = process.cpuUsage()
  const began = performance.now()
  const latenciesMs = await callAgainAndAgain(steps, terms)
  const seconds = (performance.now() - began) / 1000
  const { user, system } = process.cpuUsage(clientTime)
  const { insideUs, cpuUs } = await serverTime()
  await steps.after?.()
  const calls = latenciesMs.length
  return {
    latenciesMs,
    callsPerSecond: calls / seconds,
    insideUs: insideUs / calls,
    cpuUs: cpuUs / calls,
    clientCpuUs: (user + system) / calls,
  }
}

async function callAgainAndAgain(steps: Steps, { calls, limitMs, inFlight }: RoundTerms): Promise<number[]> {
  const endsAt = performance.now() + limitMs
  const latenciesMs: number[] = []
  let begun = 0
  const worker = async (): Promise<void> => {
    while (begun < calls && performance.now() < endsAt) {
      begun++
      const from = performance.now()
      await steps.call()
      latenciesMs.push(performance.now() - from)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return latenciesMs
}
