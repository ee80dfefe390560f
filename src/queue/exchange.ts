// One call for both: jobs that are done are acked, and others are claimed.

import { type AckAndClaimAnswer, ackAndClaim } from '../generated/queue.ts'
import { endsAtOf } from '../runtime/grant.ts'
import { learnTold } from '../runtime/told.ts'
import type { Source } from './source.ts'

export interface Ack {
  readonly number: string
  readonly token: number
  readonly result: string | Uint8Array
}

/** Why an attempt has lost its job. */
export type LossReason = 'lost' | 'retried' | 'buried' | 'cancelled' | 'acked' | 'absent'

export interface Exchange {
  readonly acks: readonly Ack[]
  /** Jobs to claim at most; 0: none. */
  readonly limit: number
  readonly leaseMs: number
  /** Who is to be woken; empty: nobody. */
  readonly worker: string
}

export interface Exchanged {
  readonly nowMs: number
  readonly jobs: AckAndClaimAnswer['jobs']
  readonly options: AckAndClaimAnswer['options']
  /** Until when the jobs are claimed, by the server's clock and by `performance.now()`. */
  readonly endsAtMs: number
  readonly endsAt: number
  /** Whether the worker will be woken. */
  readonly waits: boolean
  /** When it has to come back nevertheless; 0: it need not. */
  readonly recheckMs: number
  readonly paused: boolean
  /** Why acks were refused, by their places. */
  readonly refused: ReadonlyMap<number, LossReason>
}

/** Rejects as any call does. */
export async function exchange(source: Source, { acks, ...terms }: Exchange): Promise<Exchanged> {
  const { unit, codec } = source
  const told = await learnTold(unit)
  const askedAt = performance.now()
  const answer = await unit.runOnce(ackAndClaim, (id) => ({
    codec: codec.name,
    ...id,
    ...terms,
    ...told,
    acks,
  }))
  return {
    nowMs: answer.nowMs,
    jobs: answer.jobs,
    options: answer.options,
    endsAtMs: answer.endsAtMs,
    endsAt: endsAtOf(askedAt, answer.endsAtMs - answer.nowMs),
    waits: answer.waits,
    recheckMs: answer.recheckMs,
    paused: answer.paused,
    refused: new Map(answer.refused.map(({ at, why }) => [at, why as LossReason])),
  }
}
