// Claims by hand: for those who settle and extend their jobs themselves.

import { pause } from '../runtime/in-time.ts'
import type { Post } from '../runtime/mailbox.ts'
import { learnTold } from '../runtime/told.ts'
import { toWaitMs, type Waiting } from '../runtime/wait.ts'
import { type ClaimedJob, type Settling, toClaimedJobs } from './claimed-job.ts'
import { type Ack, type Exchanged, exchange } from './exchange.ts'
import { toAck } from './settling.ts'
import type { Source } from './source.ts'

export interface ClaimTerms {
  readonly limit: number
  readonly leaseMs: number
}

const RECHECK_MS = 10_000
const RECHECK_UNHEARD_MS = 500

/** Resolves to none when there was none for `wait`; acks those that are done first. Throws the signal's reason. */
export async function claimJobs<Payload>(
  source: Source,
  settling: Settling,
  terms: ClaimTerms,
  waiting: Waiting,
  done: readonly ClaimedJob[],
): Promise<ClaimedJob<Payload>[]> {
  const held = done.filter(({ isClaimed }) => isClaimed)
  const acks = held.map((job) => toAck(job, undefined, source))
  const exchanged = await exchangeAndWait(source, terms, waiting, acks, ({ refused }) => {
    for (const [at, job] of held.entries()) job.noteAcked(refused.get(at) ?? null)
  })
  return toClaimedJobs(source, settling, exchanged)
}

/**
 * The exchange that claimed, or that found nothing at the end of `wait`; the first one acks, and `onAcked` is told of
 * it at once. Throws the signal's reason.
 */
export async function exchangeAndWait(
  source: Source,
  terms: ClaimTerms,
  waiting: Waiting,
  acks: readonly Ack[] = [],
  onAcked: (exchanged: Exchanged) => void = () => undefined,
): Promise<Exchanged> {
  const waitMs = toWaitMs(waiting)
  const { signal } = waiting
  signal?.throwIfAborted()
  const first = await exchange(source, { ...terms, acks, worker: '' })
  onAcked(first)
  if (first.jobs.length > 0 || waitMs === 0) return first
  const endsAt = performance.now() + waitMs
  const id = source.unit.runtime.mailbox.newId()
  const post = await listen(source, id)
  try {
    return await claimOrSleep(source, terms, { id, post, endsAt, signal })
  } finally {
    post?.close()
    // Nobody must be called in vain.
    await exchange(source, { acks: [], limit: 0, leaseMs: 0, worker: id }).catch(() => undefined)
  }
}

interface Stand {
  readonly id: string
  readonly post: Post | null
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
}

async function claimOrSleep(
  source: Source,
  terms: ClaimTerms,
  { id, post, endsAt, signal }: Stand,
): Promise<Exchanged> {
  for (;;) {
    const exchanged = await exchange(source, { ...terms, acks: [], worker: id })
    const leftMs = Math.ceil(endsAt - performance.now())
    if (exchanged.jobs.length > 0 || leftMs <= 0) return exchanged
    const longest = post === null ? RECHECK_UNHEARD_MS : RECHECK_MS
    const ms = Math.min(leftMs, longest, exchanged.recheckMs === 0 ? Infinity : exchanged.recheckMs)
    await (post === null ? pause(ms, signal) : post.next(ms, signal))
  }
}

/** Null where listening is forbidden. */
async function listen({ unit }: Source, id: string): Promise<Post | null> {
  const { channel } = await learnTold(unit)
  return unit.runtime.mailbox.expect(channel, id).catch(() => null)
}
