// Server calls for claims by their tokens: for the claim itself, another process, or the client of a service.

import { ack, deadLetter, extend, release } from '../generated/feed.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { InvalidArgumentError, LeaseLostError } from '../runtime/errors/errors.ts'
import type { Extended } from '../runtime/leases/lease-by-token.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'
import { checkOptions, checkToken } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { type ClaimIds, NO_MESSAGE, toClaimIds, toShownId } from './addresses.ts'
import type { UndecodableMessage } from './message.ts'
import type { FeedSource, Partitions } from './partitions.ts'

/** A message that was not acked, because the claim did not hold it. */
export interface Refused {
  /** The id of the message. */
  readonly id: string
  /** `absent`: no longer in the feed; `unclaimed`: free; `held`: another claim holds it. */
  readonly reason: string
}

export interface ExtendOptions {
  /** How long messages live at least after the end of the claim. Default: `'0ms'`. */
  grace?: Duration
}

/** An extension in the form that the script takes. */
export interface ClaimExtension {
  readonly leaseMs: number
  readonly graceMs: number
}

/** Throws InvalidArgumentError. */
export function toExtension(lease: Duration, options: ExtendOptions): ClaimExtension {
  checkOptions('options', options, ['grace'])
  const { grace = '0ms' } = options
  return { leaseMs: toLeaseMs(lease), graceMs: toMs('grace', grace, { min: '0ms' }) }
}

/** Each method throws LeaseLostError when the claim has ended. */
export class ClaimByToken {
  readonly token: number
  readonly #source: FeedSource<unknown>

  constructor(source: FeedSource<unknown>, token: number) {
    this.token = token
    this.#source = source
  }

  async extend({ leaseMs, graceMs }: ClaimExtension): Promise<Extended> {
    const answer = await this.#source.unit.run(extend, { token: String(this.token), leaseMs, graceMs })
    if (answer.status === 'lost') throw this.lost()
    return { leaseMs, expiresAtMs: answer.expiresAtMs }
  }

  /** Removes messages. Resolves to those that the claim does not hold. */
  async ack(ids: ClaimIds): Promise<Refused[]> {
    const { known, unknown } = ids === 'all' ? ALL : ids
    const unheard = unknown.map((id) => ({ id, reason: 'absent' }))
    const args = (id: CallId) => ({ ...id, token: String(this.token), ids: known })
    const answer = await this.#source.unit.runOnce(ack, args, { atClose: 'gives back' })
    if (answer.status === 'lost') throw this.lost()
    const named = answer.refused.filter(({ id }) => id !== NO_MESSAGE)
    const refused = named.map(({ id, reason }) => ({ id: toShownId(this.#source, id), reason }))
    return [...refused, ...unheard]
  }

  async release(ids: ClaimIds): Promise<void> {
    const { known } = ids === 'all' ? ALL : ids
    await this.#sendRelease({ ids: known, unseen: false })
  }

  /** Gives back messages that no consumer received, as if they had not been claimed. */
  async giveBack(): Promise<void> {
    await this.#sendRelease({ ids: [], unseen: true })
  }

  /**
   * Makes messages that the codec cannot decode dead letters, so that they do not block later messages again and
   * again. Does nothing after the claim has ended, because other consumers may claim its messages.
   */
  async deadLetter(messages: readonly UndecodableMessage[], deadMs: number): Promise<void> {
    const { unit, codec } = this.#source
    const { channel: deadChannel } = unit.beside('dead')
    const ids = messages.map(({ id }) => Number(id))
    const token = String(this.token)
    const common = { codec: codec.name, token, deadMs, deadChannel, sharded: unit.sharded, ids }
    await unit.runOnce(deadLetter, (id: CallId) => ({ ...common, ...id }), { atClose: 'gives back' })
  }

  lost(): LeaseLostError {
    return new LeaseLostError(`claim of feed '${this.#source.unit.place.name}'`, this.token)
  }

  async #sendRelease(terms: { readonly ids: readonly number[]; readonly unseen: boolean }): Promise<void> {
    const { unit } = this.#source
    const { channel, sharded } = unit
    const args = (id: CallId) => ({ ...id, channel, sharded, token: String(this.token), ...terms })
    const answer = await unit.runOnce(release, args, { atClose: 'gives back' })
    if (answer.status === 'lost') throw this.lost()
  }
}

const ALL = { known: [], unknown: [] } as const

/** Identifies a claim. */
export interface ClaimLease {
  readonly token: number
}

/** Identifies a claim of a feed in partitions. */
export interface PartitionClaimLease extends ClaimLease {
  readonly partition: number
}

export interface ClaimMessages {
  /** The ids of the messages of the claim. Default: all that are left. */
  ids?: readonly string[] | 'all'
}

/** The result for one claim. */
export type SettledClaim<Done extends string> =
  | { readonly outcome: Done }
  /** The claim has ended, or never existed. */
  | { readonly outcome: 'lost' }

/** The result for one claim, with the messages that it did not hold. */
export type SettledAck =
  | { readonly outcome: 'acked'; readonly refused: Refused[] }
  | { readonly outcome: 'lost' }

export interface ExtendedClaims {
  /** The length of the new leases in milliseconds. */
  readonly leaseMs: number
  /** The earliest end of the extended claims, in milliseconds of the server's clock; null when none was extended. */
  readonly expiresAtMs: number | null
  /** The result of each claim, in the order of the call. */
  readonly claims: SettledClaim<'extended'>[]
}

type Named<Lease extends ClaimLease> = Lease & ClaimMessages

/**
 * The claim with this token in a partition (0 in a feed without partitions); null when it has ended or never existed.
 */
type FindClaim<Held> = (partition: number, token: number) => Promise<Held | null>

const MAX_CLAIMS = 500
const LOST = { outcome: 'lost' } as const

/**
 * Settles and extends claims by their tokens, up to 500 per call. Each claim has its own result: a lost claim is
 * reported as a value and does not fail the others.
 */
export class ClaimsByToken<Lease extends ClaimLease, Held> {
  readonly #partitions: Partitions<unknown>
  readonly #find: FindClaim<Held>

  constructor(partitions: Partitions<unknown>, find: FindClaim<Held>) {
    this.#partitions = partitions
    this.#find = find
  }

  /**
   * Looks up a live claim, for example of another process; null when it has ended or never existed. Throws
   * InvalidArgumentError.
   */
  async get(lease: Lease): Promise<Held | null> {
    const source = this.#checkedSource(lease, [])
    const claim = await this.#find(source.partition, lease.token)
    if (claim === null) await this.#partitions.agreement?.check()
    return claim
  }

  /**
   * Acks messages: removes them from the feed. A claim ends when all its messages are acked, so a repeated call
   * reports it as `lost`. Resolves to a result per claim. Throws InvalidArgumentError.
   */
  async ack(claims: readonly Named<Lease>[]): Promise<SettledAck[]> {
    return settleEach(this.#withIds(claims), async ({ claim, ids }) => {
      return { outcome: 'acked', refused: await claim.ack(ids) }
    })
  }

  /** Gives messages back: they are free again. Resolves to a result per claim. Throws InvalidArgumentError. */
  async release(claims: readonly Named<Lease>[]): Promise<SettledClaim<'released'>[]> {
    return settleEach(this.#withIds(claims), async ({ claim, ids }) => {
      await claim.release(ids)
      return { outcome: 'released' }
    })
  }

  /** Makes the leases last `lease` from now; by default 30 seconds. Throws InvalidArgumentError. */
  async extend(
    claims: readonly Lease[],
    lease: Duration = '30s',
    options: ExtendOptions = {},
  ): Promise<ExtendedClaims> {
    const terms = toExtension(lease, options)
    const ends: number[] = []
    const settled = await settleEach(this.#checked(claims, []), async ({ claim, source }) => {
      const { expiresAtMs } = await new ClaimByToken(source, claim.token).extend(terms)
      ends.push(expiresAtMs)
      return { outcome: 'extended' } as const
    })
    const expiresAtMs = ends.length === 0 ? null : Math.min(...ends)
    return { leaseMs: terms.leaseMs, expiresAtMs, claims: settled }
  }

  #withIds(claims: readonly Named<Lease>[]): { readonly claim: ClaimByToken; readonly ids: ClaimIds }[] {
    return this.#checked(claims, ['ids']).map(({ claim, source }) => ({
      claim: new ClaimByToken(source, claim.token),
      ids: toClaimIds(source, claim.ids ?? 'all'),
    }))
  }

  /** Checks all claims before any call is sent. */
  #checked<Claim extends Lease>(
    claims: readonly Claim[],
    known: readonly string[],
  ): { readonly claim: Claim; readonly source: FeedSource<unknown> }[] {
    if (!Array.isArray(claims) || claims.length === 0 || claims.length > MAX_CLAIMS) {
      throw new InvalidArgumentError('claims', `must be a list of 1 to ${MAX_CLAIMS} claims`)
    }
    return claims.map((claim: Claim) => ({ claim, source: this.#checkedSource(claim, known) }))
  }

  /** Throws InvalidArgumentError. */
  #checkedSource(
    claim: ClaimLease & { readonly partition?: number },
    known: readonly string[],
  ): FeedSource<unknown> {
    const { spread, first } = this.#partitions
    checkOptions('claim', claim, [...(spread === 0 ? ['token'] : ['partition', 'token']), ...known])
    checkToken(claim.token)
    return spread === 0 ? first : this.#partitions.at(claim.partition)
  }
}

/** The calls of one tick share a pipeline. */
function settleEach<Claim, Result>(
  claims: readonly Claim[],
  send: (claim: Claim) => Promise<Result>,
): Promise<(Result | typeof LOST)[]> {
  const settling = claims.map((claim) =>
    send(claim).catch((error: unknown) => {
      if (error instanceof LeaseLostError) return LOST
      throw error
    }),
  )
  return Promise.all(settling)
}
