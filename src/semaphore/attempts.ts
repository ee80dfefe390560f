// Server calls for one semaphore: how permits are acquired, extended and released.

import { abandon, acquire, extend, release, resize, serve } from '../generated/semaphore.ts'
import { InvalidArgumentError } from '../runtime/errors/errors.ts'
import type { LeaseKind } from '../runtime/keeper/lease-keeper.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { CLAIM_MS, learnNotifyChannel } from '../runtime/waiting/notify-channel.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import type { AttemptHow, Attempts, LineStanding } from '../runtime/waiting/attempts.ts'

/** The terms under which one handle acquires permits. */
export interface PermitTerms {
  readonly holder: string
  readonly limit: number
  readonly leaseMs: number
}

/** The server calls on permits of one semaphore. */
export class Permits {
  readonly kind: LeaseKind
  readonly #unit: Unit

  constructor(unit: Unit) {
    this.#unit = unit
    this.kind = {
      name: `semaphore ${unit.beginning}`,
      async extend(leases, trace) {
        const { nowMs, permits } = await unit.run(extend, { leases }, trace)
        return { nowMs, endsAtMs: permits }
      },
    }
  }

  /** False when the server no longer knows the permit. */
  async release(token: number, trace: Trace): Promise<boolean> {
    if (this.#unit.runtime.server.info === null) await this.#unit.learnFor(trace)
    const { channel, sharded, counted } = this.#unit.notifyChannel
    const args = { token: String(token), claimMs: CLAIM_MS, channel, sharded, counted }
    const answer = await this.#unit.run(release, args, trace)
    if (answer.status === 'lost') return false
    if (answer.more) await this.#serveOthers()
    return true
  }

  async resize(limit: number): Promise<void> {
    const trace: Trace = {}
    const args = { limit, claimMs: CLAIM_MS, ...(await learnNotifyChannel(this.#unit, trace)) }
    const { more } = await this.#unit.run(resize, args, trace)
    if (more) await this.#serveOthers()
  }

  /** The caller's own request is already done, so errors are ignored here; waiters also ask again by themselves. */
  #serveOthers(): Promise<void> {
    return this.serve().catch(() => undefined)
  }

  /** Grants free permits to the waiters, in bounded steps. */
  async serve(): Promise<void> {
    const args = { claimMs: CLAIM_MS, ...(await learnNotifyChannel(this.#unit)) }
    for (;;) {
      const { more } = await this.#unit.run(serve, args, { atClose: 'gives back' })
      if (!more) return
    }
  }
}

/** Attempts to acquire a permit of one weight. */
export class WeightedAttempts implements Attempts {
  readonly passes: boolean = false
  readonly #unit: Unit
  readonly #permits: Permits
  readonly #terms: PermitTerms
  readonly #weight: number

  constructor(unit: Unit, permits: Permits, terms: PermitTerms, weight: number) {
    this.#unit = unit
    this.#permits = permits
    this.#terms = terms
    this.#weight = weight
  }

  /** Throws InvalidArgumentError when the weight is above the limit. */
  get leaseMs(): number {
    return this.#terms.leaseMs
  }

  get node(): string {
    return this.#unit.node
  }

  async attempt(
    id: string,
    { waits, listens, confirms = false, trace = {} }: AttemptHow,
  ): Promise<LineStanding> {
    if (this.#unit.runtime.server.info === null) await this.#unit.learnFor(trace)
    const { holder, limit, leaseMs } = this.#terms
    const { channel, sharded, counted } = this.#unit.notifyChannel
    const weight = this.#weight
    const claimMs = CLAIM_MS
    const asked = {
      id,
      holder,
      limit,
      leaseMs,
      weight,
      claimMs,
      waits,
      listens,
      confirms,
      channel,
      sharded,
      counted,
    }
    const answer = await this.#unit.run(acquire, asked, trace)
    if (answer.status !== 'oversized') return answer
    throw new InvalidArgumentError(
      'weight',
      `must be at most ${answer.limit}, the limit of semaphore '${this.#unit.place.name}'`,
    )
  }

  async abandon(id: string): Promise<void> {
    const notifyChannel = await learnNotifyChannel(this.#unit)
    const weight = this.#weight
    const args = {
      id,
      listens: true,
      waits: false,
      weight,
      claimMs: CLAIM_MS,
      ...this.#terms,
      ...notifyChannel,
    }
    const { more } = await this.#unit.run(abandon, args, { atClose: 'gives back' })
    if (more) await this.#permits.serve()
  }
}
