// Server calls for one lock, exclusive or shared: how leases are acquired, extended and released.

import {
  abandon,
  abandonShared,
  acquire,
  acquireShared,
  extend,
  extendShared,
  release,
  releaseShared,
  serve,
} from '../generated/lock.ts'
import type { LeaseKind } from '../runtime/keeper/lease-keeper.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { toRefusals } from '../runtime/calls/script-errors.ts'
import { CLAIM_MS, learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { AttemptHow, Attempts, LineStanding } from '../runtime/waiting/attempts.ts'

/** The terms under which one handle acquires the lock. */
export interface AcquireTerms {
  readonly holder: string
  readonly leaseMs: number
  readonly barging: boolean
}

/** The server calls of one handle of a lock, shared or exclusive. */
export interface LockSide extends Attempts {
  readonly kind: LeaseKind
  /** Whether a lease of this kind on the same lock already permits the access requested here. */
  isCoveredBy(kind: LeaseKind): boolean
  release(token: number, trace: Trace): Promise<boolean>
}

export class ExclusiveSide implements LockSide {
  readonly kind: LeaseKind
  readonly passes: boolean
  readonly #unit: Unit
  readonly #terms: AcquireTerms

  constructor(unit: Unit, terms: AcquireTerms) {
    this.#unit = unit
    this.#terms = terms
    this.kind = exclusiveKind(unit)
    this.passes = terms.barging
  }

  get leaseMs(): number {
    return this.#terms.leaseMs
  }

  get node(): string {
    return this.#unit.node
  }

  isCoveredBy(kind: LeaseKind): boolean {
    return kind.name === this.kind.name
  }

  async attempt(
    id: string,
    { waits, listens, confirms = false, trace = {} }: AttemptHow,
  ): Promise<LineStanding> {
    if (this.#unit.runtime.server.info === null) await this.#unit.learnFor(trace)
    const { holder, leaseMs, barging } = this.#terms
    const { channel, sharded, counted } = this.#unit.notifyChannel
    const claimMs = CLAIM_MS
    const asked = {
      id,
      holder,
      leaseMs,
      claimMs,
      waits,
      listens,
      barging,
      channel,
      sharded,
      counted,
      confirms,
    }
    const answer = await this.#unit.run(acquire, asked, trace)
    if (answer.status !== 'granted' && answer.more) await serveOthers(this.#unit)
    return answer
  }

  async abandon(id: string): Promise<void> {
    const notifyChannel = await learnNotifyChannel(this.#unit)
    const args = { id, listens: true, ...this.#terms, claimMs: CLAIM_MS, ...notifyChannel }
    const { more } = await this.#unit.run(abandon, args, { atClose: 'gives back' })
    if (more) await serveAll(this.#unit)
  }

  async release(token: number, trace: Trace): Promise<boolean> {
    if (this.#unit.runtime.server.info === null) await this.#unit.learnFor(trace)
    const { channel, sharded, counted } = this.#unit.notifyChannel
    const args = { token: String(token), claimMs: CLAIM_MS, channel, sharded, counted }
    const answer = await this.#unit.run(release, args, trace)
    if (answer.status === 'lost') return false
    if (answer.more) await serveOthers(this.#unit)
    return true
  }
}

export class SharedSide implements LockSide {
  readonly kind: LeaseKind
  readonly passes: boolean = false
  readonly #unit: Unit
  readonly #terms: AcquireTerms

  constructor(unit: Unit, terms: AcquireTerms) {
    this.#unit = unit
    this.#terms = terms
    this.kind = sharedKind(unit)
  }

  get leaseMs(): number {
    return this.#terms.leaseMs
  }

  get node(): string {
    return this.#unit.node
  }

  isCoveredBy(): boolean {
    return true
  }

  async attempt(
    id: string,
    { waits, listens, confirms = false, trace = {} }: AttemptHow,
  ): Promise<LineStanding> {
    const { holder, leaseMs } = this.#terms
    const notifyChannel = await learnNotifyChannel(this.#unit, trace)
    const asked = { id, waits, listens, confirms, holder, leaseMs, claimMs: CLAIM_MS, ...notifyChannel }
    const answer = await this.#unit.run(acquireShared, asked, trace)
    if (answer.status !== 'granted' && answer.more) await serveOthers(this.#unit)
    return answer
  }

  async abandon(id: string): Promise<void> {
    const { holder, leaseMs } = this.#terms
    const notifyChannel = await learnNotifyChannel(this.#unit)
    const args = { id, listens: true, holder, leaseMs, claimMs: CLAIM_MS, ...notifyChannel }
    const { more } = await this.#unit.run(abandonShared, args, { atClose: 'gives back' })
    if (more) await serveAll(this.#unit)
  }

  async release(token: number, trace: Trace): Promise<boolean> {
    const args = { token: String(token), claimMs: CLAIM_MS, ...(await learnNotifyChannel(this.#unit, trace)) }
    const answer = await this.#unit.run(releaseShared, args, trace)
    if (answer.status === 'lost') return false
    if (answer.more) await serveOthers(this.#unit)
    return true
  }
}

/** The caller's own request is already done, so errors are ignored here; waiters also ask again by themselves. */
export function serveOthers(unit: Unit): Promise<void> {
  return serveAll(unit).catch(() => undefined)
}

/** Hands a free lock to the next waiters, in bounded steps. */
async function serveAll(unit: Unit): Promise<void> {
  for (;;) {
    const { more } = await unit.run(
      serve,
      { claimMs: CLAIM_MS, ...unit.notifyChannel },
      { atClose: 'gives back' },
    )
    if (!more) return
  }
}

/** One kind for all locks, so that their leases are extended together. */
function exclusiveKind({ runtime }: Unit): LeaseKind {
  return {
    name: 'lock',
    async extend(leases, trace) {
      const states = leases.map(({ beginning }) => `${beginning}state`)
      const answer = await runtime.runner.run(extend, states, { leases }, trace)
      return { nowMs: answer.nowMs, endsAtMs: answer.leases, refused: toRefusals(answer.refused, extend) }
    },
  }
}

function sharedKind(unit: Unit): LeaseKind {
  return {
    name: `readers ${unit.beginning}`,
    async extend(leases, trace) {
      const answer = await unit.run(extendShared, { leases }, trace)
      return { nowMs: answer.nowMs, endsAtMs: answer.leases }
    },
  }
}
