// What becomes of claims, told by whoever knows only their tokens: another process, or the client of a service. Each
// claim is judged by itself, and that one was lost is a value: it fails no other.

import { checkOptions, checkToken } from '../runtime/values/arguments.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { InvalidArgumentError, LeaseLostError } from '../runtime/errors/errors.ts'
import type { Extended } from '../runtime/leases/lease-by-token.ts'
import {
  ackClaim,
  type ExtendOptions,
  extendClaim,
  type Refused,
  releaseClaim,
  toExtension,
} from './claim.ts'
import { knownIds, type Source } from './message.ts'

/** What proves a claim. */
export interface ClaimLease {
  readonly token: number
}

/** What proves a claim of a feed in partitions. */
export interface PartitionClaimLease extends ClaimLease {
  readonly partition: number
}

export interface ClaimMessages {
  /** Which messages of the claim; default: all that are left. */
  ids?: readonly string[] | 'all'
}

/** What became of a claim. */
export type SettledClaim<Done extends string> =
  | { readonly outcome: Done }
  /** It had ended, or never was. */
  | { readonly outcome: 'lost' }

/** What became of a claim, and which messages it did not hold. */
export type SettledAck =
  | { readonly outcome: 'acked'; readonly refused: Refused[] }
  | { readonly outcome: 'lost' }

export interface ExtendedClaims {
  readonly leaseMs: number
  /** When the first of those that were extended ends, in milliseconds of the server's clock; null when none was. */
  readonly expiresAtMs: number | null
  readonly claims: SettledClaim<'extended'>[]
}

/** Where a claim is, and what its messages are called there. Each throws InvalidArgumentError. */
export interface ClaimPlaces<Lease extends ClaimLease> {
  /** What names a claim. */
  readonly named: readonly (keyof Lease & string)[]
  sourceOf(claim: Lease): Source<unknown>
  toOwn(claim: Lease, ids: readonly string[]): readonly string[]
  toShown(claim: Lease, id: string): string
}

type Named<Lease extends ClaimLease> = Lease & ClaimMessages

const MAX_CLAIMS = 500
const LOST = { outcome: 'lost' } as const

/** Settles and extends claims for whoever has their tokens: up to 500 a call, each judged by itself. */
export class SettlingClaims<Lease extends ClaimLease> {
  readonly #places: ClaimPlaces<Lease>

  constructor(places: ClaimPlaces<Lease>) {
    this.#places = places
  }

  /**
   * The messages are done: removes them. A claim whose messages are all acked has ended, so of a repeated call it is lost.
   * Throws InvalidArgumentError.
   */
  async ack(claims: readonly Named<Lease>[]): Promise<SettledAck[]> {
    const all = this.#checked(claims, ['ids']).map((claim) => ({ claim, ids: this.#ownIds(claim) }))
    return settleEach(all, async ({ claim, ids }) => {
      const refused = await ackClaim(this.#places.sourceOf(claim), claim.token, ids)
      const shown = refused.map(({ id, reason }) => ({ id: this.#places.toShown(claim, id), reason }))
      return { outcome: 'acked', refused: shown }
    })
  }

  /** Gives the messages back: they are free again. Throws InvalidArgumentError. */
  async release(claims: readonly Named<Lease>[]): Promise<SettledClaim<'released'>[]> {
    const all = this.#checked(claims, ['ids']).map((claim) => ({ claim, ids: this.#ownIds(claim) }))
    return settleEach(all, async ({ claim, ids }) => {
      await releaseClaim(this.#places.sourceOf(claim), claim.token, ids)
      return { outcome: 'released' }
    })
  }

  /** Makes the leases last so long from now on; default 30 seconds. Throws InvalidArgumentError. */
  async extend(
    claims: readonly Lease[],
    lease: Duration = '30s',
    options: ExtendOptions = {},
  ): Promise<ExtendedClaims> {
    const terms = toExtension(lease, options)
    const extended: Extended[] = []
    const settled = await settleEach(this.#checked(claims, []), async (claim) => {
      extended.push(await extendClaim(this.#places.sourceOf(claim), claim.token, terms))
      return { outcome: 'extended' } as const
    })
    const ends = extended.map(({ expiresAtMs }) => expiresAtMs)
    const expiresAtMs = ends.length === 0 ? null : Math.min(...ends)
    return { leaseMs: terms.leaseMs, expiresAtMs, claims: settled }
  }

  /** Everything is checked before anything is sent. */
  #checked<Claim extends Lease>(claims: readonly Claim[], known: readonly string[]): readonly Claim[] {
    if (!Array.isArray(claims) || claims.length === 0 || claims.length > MAX_CLAIMS) {
      throw new InvalidArgumentError('claims', `must be a list of 1 to ${MAX_CLAIMS} claims`)
    }
    for (const claim of claims) {
      checkOptions('claim', claim, [...this.#places.named, ...known])
      checkToken(claim.token)
      this.#places.sourceOf(claim)
    }
    return claims
  }

  #ownIds(claim: Named<Lease>): readonly string[] | 'all' {
    const { ids = 'all' } = claim
    return ids === 'all' ? ids : this.#places.toOwn(claim, ids)
  }
}

/** What is sent travels together. */
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

/** All claims of a feed are in one place. */
export function placesIn<Body>(source: Source<Body>): ClaimPlaces<ClaimLease> {
  return {
    named: ['token'],
    sourceOf: () => source,
    toOwn(_, ids) {
      knownIds('ids', ids)
      return ids
    },
    toShown: (_, id) => id,
  }
}
