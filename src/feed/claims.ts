// Taking claims: one script call, or waiting for something to become free.

import { claim } from '../generated/feed.ts'
import { checkInteger } from '../runtime/values/arguments.ts'
import type { CallId } from '../runtime/calls/call-ids.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { LeaseLostError } from '../runtime/errors/errors.ts'
import { askingAt } from '../runtime/keeper/grant.ts'
import { closed, type Trace } from '../runtime/calls/runner.ts'
import { toLeaseMs } from '../runtime/leases/lease-options.ts'
import { type Attempt, toWaitMs, type Waiting, waitFor } from '../runtime/waiting/wait.ts'
import { Claim, returnClaim } from './claim.ts'
import { buryUndecodable, mayBury } from './burying.ts'
import { MAX_IDS, type Source, sortOut, toEntry } from './message.ts'

export interface ClaimOptions extends Waiting {
  /** Messages to claim at most; default 10. */
  limit?: number
  /** How long the claim lasts; default 30 seconds. */
  lease?: Duration
  /** How long messages live beyond their claim at least; default: not beyond it. */
  grace?: Duration
}

export const TAKE_OPTIONS = ['limit', 'wait', 'signal'] as const
export const CLAIM_OPTIONS = ['limit', 'wait', 'signal', 'lease', 'grace'] as const

export interface DeadLetterOptions {
  /** Claims after which a message becomes a dead letter; 0: never. */
  maxClaims: number
  /** How long a dead letter lives; 0: as long as the message would have. */
  deadMs: number
}

/** A claim as the script takes it. */
export interface ClaimTerms extends DeadLetterOptions {
  limit: number
  leaseMs: number
  graceMs: number
}

/** Checks the options. Throws InvalidArgumentError. */
export function toClaimTerms(
  { limit = 10, lease, grace = '0ms' }: ClaimOptions,
  dead: DeadLetterOptions,
): ClaimTerms {
  return {
    ...dead,
    limit: checkInteger('limit', limit, 1, MAX_IDS),
    leaseMs: toLeaseMs(lease),
    graceMs: toMs('grace', grace, { min: '0ms' }),
  }
}

/** Checks the options. Throws InvalidArgumentError. */
export function toDeadLetterOptions(
  maxClaims: number | undefined,
  expireAfter: Duration | undefined,
): DeadLetterOptions {
  return {
    maxClaims: checkInteger('maxClaims', maxClaims ?? 0, 0, 1_000_000),
    deadMs: expireAfter === undefined ? 0 : toMs('deadLettersExpireAfter', expireAfter),
  }
}

/** Claims free messages; null when there are none within `wait`. */
export function claimMessages<Body>(
  source: Source<Body>,
  options: ClaimOptions,
  dead: DeadLetterOptions,
): Promise<Claim<Body> | null> {
  const terms = toClaimTerms(options, dead)
  const { runtime } = source.unit
  return waitFor(() => claimOnce(source, terms, { signal: options.signal }), {
    runtime,
    channel: source.unit.channel,
    waitMs: toWaitMs(options),
    signal: options.signal,
    giveBack: (late) => late.giveBack(),
  })
}

/** One attempt, over dead and expired messages to the first free ones. `by`: when its first call settles. */
export async function claimOnce<Body>(
  source: Source<Body>,
  terms: ClaimTerms,
  { signal, ...first }: Pick<Trace, 'by' | 'signal'> = {},
): Promise<Attempt<Claim<Body>>> {
  const { unit, codec, spread: partitions } = source
  const askedAt = askingAt()
  const deadChannel = unit.beside('dead').channel
  const common = { ...terms, codec: codec.name, partitions, deadChannel, sharded: unit.sharded }
  const args = (id: CallId) => ({ ...common, ...id })
  const trace = { ...first, atClose: 'goes on', signal } as const
  const again = (id: CallId): Promise<void> => giveBackUnanswered(source, { ...args(id), limit: 0 })
  const answer = await unit.runOnce(claim, args, trace, again)
  if (answer.status === 'empty') {
    // Only dead or expired messages were found so far: look on at once.
    if (answer.recheckMs === 1) return claimOnce(source, terms, { signal })
    return { value: null, recheckMs: answer.recheckMs }
  }
  const { token, expiresAtMs, nowMs } = answer
  const found = sortOut(answer.messages.map((message) => toEntry(answer, message, codec, token)))
  const lease = { token, leaseMs: terms.leaseMs, remainingMs: expiresAtMs - nowMs, expiresAtMs }
  const keepsUndecodable = !mayBury(source)
  const claimed = new Claim(source, { ...lease, ...found, keepsUndecodable }, askedAt)
  if (found.undecodable.length > 0 && !keepsUndecodable) {
    await orGiveBack(source, token, buryUndecodable(source, token, found.undecodable, terms.deadMs))
    // Behind them there may be others.
    if (found.messages.length === 0) return claimOnce(source, terms, { signal })
  }
  await giveBackIfClosed(source, claimed)
  return { value: claimed, recheckMs: 0 }
}

/** What a call has claimed whose answer comes too late, or never, is for others: nobody knows of it. */
async function giveBackUnanswered<Body>(
  source: Source<Body>,
  args: Parameters<typeof claim.encode>[0],
): Promise<void> {
  const answer = await source.unit.run(claim, args, { atClose: 'gives back' })
  if (answer.status !== 'claimed') return
  await returnClaim(source, answer.token).catch((error: unknown) => {
    if (!(error instanceof LeaseLostError)) throw error
  })
}

/** What cannot be handed over is for others at once, where they can be told. */
async function orGiveBack<Body>(source: Source<Body>, token: number, burying: Promise<void>): Promise<void> {
  await burying.catch(async (error: unknown) => {
    await returnClaim(source, token).catch(() => undefined)
    throw error
  })
}

/** What is claimed while the instance closes is given back. Throws DriverError `closed` then. */
async function giveBackIfClosed<Body>({ unit }: Source<Body>, claimed: Claim<Body>): Promise<void> {
  if (!unit.runtime.runner.closed) return
  await claimed.giveBack().catch(() => undefined)
  throw closed()
}
