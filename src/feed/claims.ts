// Claims messages with one script call, or waits until a message becomes free. In a feed with partitions, the
// partitions are asked in turn until one has messages.

import { claim, claimed } from '../generated/feed.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { closed, type Trace } from '../runtime/calls/runner.ts'
import { AmbiguousError, LeaseLostError } from '../runtime/errors/errors.ts'
import { isLoss } from '../runtime/errors/outage.ts'
import { askingAt } from '../runtime/keeper/grant.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'
import { inTheEnd } from '../runtime/time/in-the-end.ts'
import { InTurn, SILENT_RECHECK_MS } from '../runtime/time/in-turn.ts'
import { checkInteger } from '../runtime/values/arguments.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { type WaitAttempt, toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import type { Claim, GrantedClaim } from './claim.ts'
import { ClaimByToken } from './claim-by-token.ts'
import type { DeadLetterTerms } from './feed-options.ts'
import { sortOut, toEntry } from './message.ts'
import { MAX_IDS } from './addresses.ts'
import { type FeedSource, type Partitions, soonest } from './partitions.ts'

export interface ClaimOptions extends Waiting {
  /** The number of messages to claim at most, 1 to 1,000; fewer if their bodies exceed 4 MiB. Default: 10. */
  limit?: number
  /** The length of the lease, 10 ms to 30 days. Default: 30 seconds. */
  lease?: Duration
  /** How long messages live at least after the end of their claim. Default: `'0ms'`. */
  grace?: Duration
}

export const TAKE_OPTIONS = ['limit', 'wait', 'signal'] as const
export const CLAIM_OPTIONS = ['limit', 'wait', 'signal', 'lease', 'grace'] as const

/** A claim in the form that the script takes. */
interface ClaimRequest extends DeadLetterTerms {
  readonly limit: number
  readonly leaseMs: number
  readonly graceMs: number
}

/** Creates the claims of a feed, with or without partitions. */
interface Holder<Body, Held> {
  hold(source: FeedSource<Body>, granted: GrantedClaim<Body>): Held
}

export class FeedClaims<Body, Held extends Claim<Body>> {
  readonly #partitions: Partitions<Body>
  readonly #deadLetters: DeadLetterTerms
  readonly #holder: Holder<Body, Held>
  /** Null for a feed without partitions. */
  readonly #inTurn: InTurn<FeedSource<Body>> | null

  constructor(partitions: Partitions<Body>, deadLetters: DeadLetterTerms, holder: Holder<Body, Held>) {
    this.#partitions = partitions
    this.#deadLetters = deadLetters
    this.#holder = holder
    const { all, spread, runtime } = partitions
    this.#inTurn = spread === 0 ? null : new InTurn(all, runtime.runner.deadlineMs)
  }

  /** Claims free messages of one partition; null when no partition has any within `wait`. */
  claim(options: ClaimOptions): Promise<Held | null> {
    const request = this.#toRequest(options)
    const { signal } = options
    const { first, runtime, channel } = this.#partitions
    const inTurn = this.#inTurn
    const waitMs = toWaitMs(options)
    const attempt =
      inTurn === null
        ? () => this.#claimOf(first, request, { signal })
        : () => this.#claimInTurn(inTurn, request, waitMs > 0)
    return waitFor(attempt, { runtime, channel, waitMs, signal, giveBack: (late) => late.giveBack() })
  }

  /** Looks a live claim up by its token. Null when it has ended or never existed. */
  async find(source: FeedSource<Body>, token: number): Promise<Held | null> {
    const { unit, codec } = source
    const askedAt = askingAt()
    const answer = await unit.run(claimed, { codec: codec.name, token: String(token) })
    if (answer.status === 'lost') return null
    const found = sortOut(answer.messages.map((message) => toEntry(answer, message, codec, token)))
    const { leaseMs, expiresAtMs, nowMs } = answer
    const lease = { token, leaseMs, remainingMs: expiresAtMs - nowMs, expiresAtMs, askedAt }
    return this.#holder.hold(source, { ...lease, ...found, keepsUndecodable: true })
  }

  /** Throws InvalidArgumentError. */
  #toRequest({ limit = 10, lease, grace = '0ms' }: ClaimOptions): ClaimRequest {
    return {
      ...this.#deadLetters,
      limit: checkInteger('limit', limit, 1, MAX_IDS),
      leaseMs: toLeaseMs(lease),
      graceMs: toMs('grace', grace, { min: '0ms' }),
    }
  }

  // One after the other: asked at once, several would claim messages and withhold them from others until given back.
  async #claimInTurn(
    inTurn: InTurn<FeedSource<Body>>,
    request: ClaimRequest,
    waits: boolean,
  ): Promise<WaitAttempt<Held>> {
    const rechecks: number[] = []
    let held: Held | null = null
    const giveBack = async ({ value }: WaitAttempt<Held>): Promise<void> => value?.giveBack()
    const { failures, isWhole } = await inTurn.askAll(inTurn.next(), {
      ask: (source, by) => (held === null ? this.#claimOf(source, request, { by }) : null),
      take: async (attempt) => {
        rechecks.push(attempt.recheckMs)
        if (held !== null) await giveBack(attempt)
        else held = attempt.value
      },
      giveBack,
      hasEnough: () => held !== null,
      comesAgain: waits,
    })
    if (held !== null) return { value: held, recheckMs: 0 }
    if (failures.length > 0) throw failures[0]
    await this.#partitions.agreement?.checkNowAndThen()
    if (!isWhole) rechecks.push(SILENT_RECHECK_MS)
    return { value: null, recheckMs: soonest(rechecks) }
  }

  /**
   * One attempt, which skips dead and expired messages up to the first free ones. `by`: when its first call settles.
   */
  async #claimOf(
    source: FeedSource<Body>,
    request: ClaimRequest,
    { signal, ...first }: Pick<Trace, 'by' | 'signal'>,
  ): Promise<WaitAttempt<Held>> {
    const { unit, codec, spread: partitions } = source
    const askedAt = askingAt()
    const deadChannel = unit.beside('dead').channel
    const common = { ...request, codec: codec.name, partitions, deadChannel, sharded: unit.sharded }
    const args = (id: CallId) => ({ ...common, ...id })
    const trace = { ...first, atClose: 'goes on', signal } as const
    const again = (id: CallId): Promise<void> => giveBackUnanswered(source, { ...args(id), limit: 0 })
    const answer = await unit.runOnce(claim, args, trace, again)
    if (answer.status === 'empty') {
      // Only dead or expired messages were found so far: continue at once.
      if (answer.recheckMs === 1) return this.#claimOf(source, request, { signal })
      return { value: null, recheckMs: answer.recheckMs }
    }
    const { token, expiresAtMs, nowMs } = answer
    const found = sortOut(answer.messages.map((message) => toEntry(answer, message, codec, token)))
    const lease = { token, leaseMs: request.leaseMs, remainingMs: expiresAtMs - nowMs, expiresAtMs, askedAt }
    const keepsUndecodable = areDeadLetters(source)
    const held = this.#holder.hold(source, { ...lease, ...found, keepsUndecodable })
    if (held.isInDoubt) {
      await held.giveBack().catch(() => undefined)
      return this.#claimOf(source, request, { signal })
    }
    if (found.undecodable.length > 0 && !keepsUndecodable) {
      const byToken = new ClaimByToken(source, token)
      await orGiveBack(byToken, byToken.deadLetter(found.undecodable, request.deadMs))
      // Later messages may be decodable.
      if (found.messages.length === 0) return this.#claimOf(source, request, { signal })
    }
    await giveBackIfClosed(source, held)
    return { value: held, recheckMs: 0 }
  }
}

/** Dead letters have no dead letters. */
function areDeadLetters({ unit }: FeedSource<unknown>): boolean {
  return unit.place.beside !== undefined
}

/** Gives back the claim of a call that was not answered in time, because no consumer knows of it. */
async function giveBackUnanswered(
  source: FeedSource<unknown>,
  args: Parameters<typeof claim.encode>[0],
): Promise<void> {
  const answer = await source.unit.run(claim, args, { atClose: 'gives back' })
  if (answer.status !== 'claimed') return
  await new ClaimByToken(source, answer.token).giveBack().catch((error: unknown) => {
    if (!(error instanceof LeaseLostError)) throw error
  })
}

/**
 * If the dead-lettering fails, the messages are given back to other consumers at once, when the server can be
 * reached.
 */
async function orGiveBack(byToken: ClaimByToken, deadLettering: Promise<void>): Promise<void> {
  await deadLettering.catch(async (error: unknown) => {
    await byToken.giveBack().catch(() => undefined)
    throw error
  })
}

/** Gives back a claim made while the instance closes, and throws DriverError `closed`. */
async function giveBackIfClosed({ unit }: FeedSource<unknown>, held: Claim<unknown>): Promise<void> {
  if (!unit.runtime.runner.closed) return
  await held.giveBack().catch(() => undefined)
  throw closed()
}

interface Taken<Message> {
  readonly messages: readonly Message[]
  readonly undecodable: readonly { readonly id: string }[]
  ack(): Promise<unknown>
  release(ids: readonly string[]): Promise<void>
}

/**
 * Claims until a message is found, or none within `wait`. Undecodable messages that stay in their claim (dead
 * letters) are held meanwhile, so that later messages are found, and given back at the end.
 */
export async function takeMessages<Message>(
  claimNext: (waiting: Waiting) => Promise<Taken<Message> | null>,
  options: Waiting,
): Promise<Message[]> {
  const endsAt = performance.now() + toWaitMs(options)
  const passed: Taken<Message>[] = []
  try {
    for (;;) {
      const wait = `${Math.max(0, Math.floor(endsAt - performance.now()))}ms` as const
      const taken = await claimNext({ ...options, wait })
      if (taken === null) return []
      if (taken.undecodable.length > 0) passed.push(taken)
      if (taken.messages.length === 0) continue
      await ackOrGoOn(taken)
      return [...taken.messages]
    }
  } finally {
    await Promise.all(passed.map(giveBackUnread))
  }
}

/**
 * When the ack is not answered, the caller still gets the messages: if the ack was carried out, no other consumer
 * will get them. The ack is retried until it is answered or the claim has ended.
 */
async function ackOrGoOn(taken: Taken<unknown>): Promise<void> {
  try {
    await taken.ack()
  } catch (error) {
    if (!(error instanceof AmbiguousError)) throw error
    void inTheEnd(() => taken.ack(), error, isLoss)
  }
}

/** Messages that became dead letters are no longer held, so their release has no effect. */
async function giveBackUnread(taken: Taken<unknown>): Promise<void> {
  await taken.release(taken.undecodable.map(({ id }) => id)).catch(() => undefined)
}
