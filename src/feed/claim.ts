import { ack, claimed, extend, release } from '../generated/feed.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { Countdown } from '../runtime/leases/countdown.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { AmbiguousError, LeaseLostError } from '../runtime/errors/errors.ts'
import { askingAt, End, endOf, endsAtOf } from '../runtime/keeper/grant.ts'
import { nowOrInTheEnd } from '../runtime/time/in-the-end.ts'
import type { Extended } from '../runtime/leases/lease-by-token.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'
import {
  type FoundMessages,
  knownIds,
  type Message,
  type Source,
  sortOut,
  toEntry,
  type UndecodableMessage,
} from './message.ts'

/** Messages that a claim did not hold when they were to be acked, by reason. */
export interface Refused {
  readonly id: string
  /** `absent`: not in the feed any more; `unclaimed`; `held`: another claim has it. */
  readonly reason: string
}

export interface ExtendOptions {
  /** How long messages live beyond the claim at least; default: not beyond it. */
  grace?: Duration
}

/**
 * Messages that nobody else gets until the lease ends.
 * Ack what is done; leaving an `await using` block gives back what is not.
 */
export class Claim<Body> implements AsyncDisposable {
  /** Proves the claim; greater than that of every earlier claim of the feed. */
  readonly token: number
  /** One at least, but of dead letters and of a claim that was looked up: there the codec may read none of them. */
  readonly messages: readonly Message<Body>[]
  /**
   * Those of the claim that the codec could not read. They are dead letters now. Where they were that before, or the claim was
   * looked up, the claim holds them, and an ack of all leaves them in it.
   */
  readonly undecodable: readonly UndecodableMessage[]
  readonly #source: Source<Body>
  readonly #keepsUndecodable: boolean
  readonly #countdown: Countdown
  #leaseMs: number
  #state: 'held' | 'acked' | 'released' | 'lost' = 'held'
  /** Of an ack of these nobody has said whether it was carried out. */
  readonly #doubted = new Set<string>()

  /** `askedAt`: `performance.now()` before the claim was asked for; from then on its lease is counted. */
  constructor(source: Source<Body>, claim: ClaimState<Body>, askedAt: number) {
    this.#source = source
    this.token = claim.token
    this.messages = claim.messages
    this.undecodable = claim.undecodable
    this.#keepsUndecodable = claim.keepsUndecodable && claim.undecodable.length > 0
    this.#leaseMs = claim.leaseMs
    const end = new End(endsAtOf(askedAt, claim.remainingMs), askedAt)
    this.#countdown = new Countdown(source.unit, end, claim.expiresAtMs)
  }

  /** How long the lease was made for, counted from the claim or its last extension. */
  get leaseMs(): number {
    return this.#leaseMs
  }

  /** When the lease ends, in milliseconds of the server's clock. */
  get expiresAtMs(): number {
    return this.#countdown.expiresAtMs
  }

  /** How much of the lease is left by this process's own clock; never more than the server grants. */
  get remainingMs(): number {
    return this.#state === 'held' ? this.#countdown.leftMs : 0
  }

  /** Throws LeaseLostError unless the claim is held now, also when the process has been asleep. */
  assertHeld(): void {
    if (this.remainingMs === 0) throw lost(this.#source, this.token)
  }

  /** Makes the claim last `lease` from now; default: as long as before. Throws LeaseLostError. */
  async extend(lease: Duration = `${this.#leaseMs}ms`, options: ExtendOptions = {}): Promise<void> {
    const extension = toExtension(lease, options)
    await this.#countdown.whileAsked(extension.leaseMs, async () => {
      const askedAt = askingAt()
      const extended = await this.#whileHeld(extendClaim(this.#source, this.token, extension))
      const { leaseMs, expiresAtMs } = extended
      this.#countdown.note(endOf(askedAt, leaseMs), { nowMs: expiresAtMs - leaseMs, expiresAtMs })
      this.#leaseMs = leaseMs
    })
  }

  /**
   * Removes messages that are done, all of the claim by default. Resolves to those that the claim did
   * not hold. Throws LeaseLostError when the claim has ended. A second ack of all does nothing, and one whose answer was lost may be
   * told again.
   */
  async ack(ids: readonly string[] | 'all' = 'all'): Promise<Refused[]> {
    if (ids === 'all' && this.#state === 'acked') return []
    const refused = await this.#whileHeld(this.#ackOrDoubt(ids))
    if (ids !== 'all') return refused
    this.#state = 'acked'
    return this.#keepsUndecodable ? [] : refused
  }

  /**
   * Gives messages back, all that are left by default: they are free again. Throws LeaseLostError when the claim
   * had ended before. A second call, or one after an ack of all, does nothing.
   */
  async release(ids: readonly string[] | 'all' = 'all'): Promise<void> {
    if (ids === 'all' && (this.#state === 'acked' || this.#state === 'released')) return
    await this.#whileHeld(releaseClaim(this.#source, this.token, ids))
    if (ids === 'all') this.#state = 'released'
  }

  /** @internal Nobody got it. Throws LeaseLostError. */
  async giveBack(): Promise<void> {
    await this.#whileHeld(returnClaim(this.#source, this.token))
    this.#state = 'released'
  }

  /**
   * Gives back what has not been acked; what no server hears is said until the lease is over. A claim whose lease has ended has
   * nothing left to give.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state !== 'held') return
    const isOver = (): boolean => this.remainingMs === 0
    await nowOrInTheEnd(() => this.release(), isOver).catch((error: unknown) => {
      if (!(error instanceof LeaseLostError)) throw error
    })
  }

  /** As long as the lease lasts nobody else ends it: what is not there any more was acked by the call before. */
  async #ackOrDoubt(ids: readonly string[] | 'all'): Promise<Refused[]> {
    try {
      const refused = await ackClaim(this.#source, this.token, this.#toAck(ids))
      return refused.filter(({ id, reason }) => reason !== 'absent' || !this.#doubted.has(id))
    } catch (error) {
      if (error instanceof AmbiguousError) for (const id of this.#named(ids)) this.#doubted.add(id)
      if (error instanceof LeaseLostError && this.remainingMs > 0 && this.#areDoubted(ids)) return []
      throw error
    }
  }

  #areDoubted(ids: readonly string[] | 'all'): boolean {
    return this.#named(ids).every((id) => this.#doubted.has(id))
  }

  #named(ids: readonly string[] | 'all'): readonly string[] {
    return ids === 'all' ? this.messages.map(({ id }) => id) : ids
  }

  /** What could not be read is not done. */
  #toAck(ids: readonly string[] | 'all'): readonly string[] | 'all' {
    return this.#keepsUndecodable ? this.#named(ids) : ids
  }

  async #whileHeld<Value>(call: Promise<Value>): Promise<Value> {
    try {
      return await call
    } catch (error) {
      if (error instanceof LeaseLostError) this.#state = 'lost'
      throw error
    }
  }
}

export interface ClaimState<Body> extends FoundMessages<Body> {
  readonly token: number
  readonly leaseMs: number
  readonly remainingMs: number
  readonly expiresAtMs: number
  /** Whether the claim holds also those that could not be read. */
  readonly keepsUndecodable: boolean
}

/** Looks a live claim up by its token. Null when it has ended or never was. */
export async function findClaim<Body>(source: Source<Body>, token: number): Promise<Claim<Body> | null> {
  const { unit, codec } = source
  const askedAt = askingAt()
  const answer = await unit.run(claimed, { codec: codec.name, token: String(token) })
  if (answer.status === 'lost') return null
  const found = sortOut(answer.messages.map((message) => toEntry(answer, message, codec, token)))
  const { leaseMs, expiresAtMs, nowMs } = answer
  const lease = { token, leaseMs, remainingMs: expiresAtMs - nowMs, expiresAtMs }
  return new Claim(source, { ...lease, ...found, keepsUndecodable: true }, askedAt)
}

/** An extension as the script takes it. */
export interface Extension {
  readonly leaseMs: number
  readonly graceMs: number
}

/** Throws InvalidArgumentError. */
export function toExtension(lease: Duration, options: ExtendOptions): Extension {
  checkOptions('options', options, ['grace'])
  const { grace = '0ms' } = options
  return { leaseMs: toLeaseMs(lease), graceMs: toMs('grace', grace, { min: '0ms' }) }
}

export async function extendClaim<Body>(
  source: Source<Body>,
  token: number,
  { leaseMs, graceMs }: Extension,
): Promise<Extended> {
  const answer = await source.unit.run(extend, { token: String(token), leaseMs, graceMs })
  if (answer.status === 'lost') throw lost(source, token)
  return { leaseMs, expiresAtMs: answer.expiresAtMs }
}

export async function ackClaim<Body>(
  source: Source<Body>,
  token: number,
  ids: readonly string[] | 'all',
): Promise<Refused[]> {
  const wanted = ids === 'all' ? [] : knownIds('ids', ids)
  const unknown = ids === 'all' ? [] : unknownIds(ids)
  if (ids !== 'all' && wanted.length === 0) return unknown
  const args = (id: CallId) => ({ ...id, token: String(token), ids: wanted })
  const answer = await source.unit.runOnce(ack, args, { atClose: 'gives back' })
  if (answer.status === 'lost') throw lost(source, token)
  return [...answer.refused.map(({ id, reason }) => ({ id: String(id), reason })), ...unknown]
}

export async function releaseClaim<Body>(
  source: Source<Body>,
  token: number,
  ids: readonly string[] | 'all',
): Promise<void> {
  const wanted = ids === 'all' ? [] : knownIds('ids', ids)
  if (ids !== 'all' && wanted.length === 0) return
  await sendRelease(source, token, { ids: wanted, unseen: false })
}

/** Nobody got what it holds: it is as if that had not been claimed. Throws LeaseLostError. */
export async function returnClaim<Body>(source: Source<Body>, token: number): Promise<void> {
  await sendRelease(source, token, { ids: [], unseen: true })
}

async function sendRelease<Body>(
  source: Source<Body>,
  token: number,
  terms: { readonly ids: readonly number[]; readonly unseen: boolean },
): Promise<void> {
  const { unit } = source
  const { channel, sharded } = unit
  const args = (id: CallId) => ({ ...id, channel, sharded, token: String(token), ...terms })
  const answer = await unit.runOnce(release, args, { atClose: 'gives back' })
  if (answer.status === 'lost') throw lost(source, token)
}

function lost<Body>({ unit }: Source<Body>, token: number): LeaseLostError {
  return new LeaseLostError(`claim of feed '${unit.place.name}'`, token)
}

function unknownIds(ids: readonly string[]): Refused[] {
  return ids.filter((id) => knownIds('ids', [id]).length === 0).map((id) => ({ id, reason: 'absent' }))
}
