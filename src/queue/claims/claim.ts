// Claims by hand: for those who settle and extend their jobs themselves.

import { longestSleepMs } from '../../runtime/subscriptions/hearing.ts'
import { type Opening, rest, unlessAborted } from '../../runtime/time/in-time.ts'
import { isSoon } from '../../runtime/time/in-turn.ts'
import { lastWord } from '../../runtime/calls/last-word.ts'
import type { Post } from '../../runtime/subscriptions/mailbox.ts'
import { closed } from '../../runtime/calls/runner.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import { noteAckFailed, tellAcked } from './ack-doubts.ts'
import { hear } from '../jobs/job-end.ts'
import type { ClaimedJob, Settling } from './claimed-job.ts'
import { toClaimedJobs } from './claimed-jobs.ts'
import {
  type Ack,
  exchange,
  type Exchange,
  type Exchanged,
  isBehindOthers,
  leaveInTheEnd,
} from './exchange.ts'
import { onlyFitting } from './misfits.ts'
import { Settler, toAck } from './settler.ts'
import type { Source } from '../source/source.ts'

export interface ClaimTerms {
  readonly limit: number
  readonly leaseMs: number
}

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

/** Resolves to none when there was none for `wait`; acks those that are done first. Throws the signal's reason. */
export async function claimJobs<Payload>(
  source: Source,
  settling: Settling,
  terms: ClaimTerms,
  waiting: Waiting,
  done: readonly ClaimedJob[],
): Promise<ClaimedJob<Payload>[]> {
  let acking = done.filter(({ isClaimed }) => isClaimed)
  const claim = (left: Waiting): Promise<Exchanged> => {
    const acks = acking.map((job) => toAck(job, undefined, source))
    return exchangeAndWait(source, terms, left, acks, ({ refused }) => {
      tellAcked(acking, refused)
      acking = []
    })
  }
  try {
    return (await claimFitting<Payload>(source, settling, waiting, claim)).jobs
  } catch (error) {
    for (const job of acking) noteAckFailed(job, error)
    throw error
  }
}

/**
 * Claims until something fits, or nothing came: behind jobs whose payloads do not fit there may be others. Not for much longer than any
 * call may take, for these may be many, or come again and again.
 */
export async function claimFitting<Payload>(
  source: Source,
  settling: Settling,
  waiting: Waiting,
  claim: (waiting: Waiting) => Promise<Exchanged>,
): Promise<{ exchanged: Exchanged; jobs: ClaimedJob<Payload>[] }> {
  const endsAt = performance.now() + toWaitMs(waiting)
  const looksUntil = Math.max(endsAt, performance.now() + source.unit.runtime.runner.deadlineMs)
  let left = waiting
  for (;;) {
    const exchanged = await claim(left)
    const claimed = toClaimedJobs<Payload>(source, settling, exchanged)
    await giveBackIfClosed(source, claimed)
    const jobs = await onlyFitting(source, claimed, waiting.signal)
    if (jobs.length > 0 || claimed.length === 0 || performance.now() >= looksUntil) return { exchanged, jobs }
    left = { ...waiting, wait: `${Math.max(0, Math.floor(endsAt - performance.now()))}ms` }
  }
}

/** What is claimed while the instance closes is given back. Throws DriverError `closed` then. */
export async function giveBackIfClosed({ unit }: Source, jobs: readonly ClaimedJob[]): Promise<void> {
  if (!unit.runtime.runner.closed) return
  await Promise.allSettled(jobs.map((job) => job.release()))
  throw closed()
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
  if (source.unit.runtime.runner.closed) throw closed()
  const { limit, leaseMs } = terms
  let first = await unlessAborted(
    exchangeOrGiveBack(source, { acks, limit, leaseMs, worker: '' }),
    signal,
    (late) => {
      onAcked(late)
      return giveBack(source, late)
    },
  )
  onAcked(first)
  while (isBehindOthers(first)) {
    const again = exchangeOrGiveBack(source, { acks: [], limit, leaseMs, worker: '' })
    first = await unlessAborted(again, signal, (late) => giveBack(source, late))
  }
  if (first.jobs.length > 0 || waitMs === 0) return first
  const endsAt = performance.now() + waitMs
  const id = source.unit.runtime.mailbox.newId()
  const opening = await hear(source.unit, id, endsAt, signal)
  let isHeard = false
  try {
    const last = await claimOrSleep(source, terms, { id, opening, endsAt, signal })
    isHeard = true
    return last
  } finally {
    opening.close()
    // Nobody must be called in vain. A server that is away is not waited for twice, and one that does not answer not for long.
    const leaving = isSoon(leaveInTheEnd(source, id))
    if (isHeard) await lastWord(leaving, source.unit.runtime.runner, signal)
  }
}

interface Stand {
  readonly id: string
  readonly opening: Opening<Post>
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
}

async function claimOrSleep(
  source: Source,
  terms: ClaimTerms,
  { id, opening, endsAt, signal }: Stand,
): Promise<Exchanged> {
  const { deadlines } = source.unit.runtime.runner
  for (;;) {
    // Before it asks: what is told from here on is heard.
    const post = opening.now
    const exchanging = exchangeOrGiveBack(source, { ...terms, acks: [], worker: id })
    const exchanged = await unlessAborted(exchanging, signal, (late) => giveBack(source, late))
    const leftMs = Math.ceil(endsAt - performance.now())
    if (exchanged.jobs.length > 0 || leftMs <= 0) return exchanged
    const longest = longestSleepMs(post, RECHECKS)
    const ms = Math.min(leftMs, longest, exchanged.recheckMs === 0 ? Infinity : exchanged.recheckMs)
    await (post === null ? rest(ms, deadlines, signal) : post.next(ms, signal))
  }
}

/** Jobs that were claimed for a caller who had gone are for others. */
async function giveBack(source: Source, { jobs }: Exchanged): Promise<void> {
  const settler = new Settler(source)
  await Promise.all(jobs.map(({ number, token }) => settler.sendRelease({ number, token, delayMs: 0 })))
}

/** An exchange whose jobs are given back where its answer comes too late, or never: nobody knows of them. */
export function exchangeOrGiveBack(source: Source, wanted: Exchange, by?: number): Promise<Exchanged> {
  return exchange(source, wanted, (unknown) => giveBack(source, unknown), by)
}
