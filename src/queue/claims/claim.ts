// Claims by hand: for those who settle and extend their jobs themselves.

import { longestSleepMs } from '../../runtime/subscriptions/hearing.ts'
import { type Opening, rest, unlessAborted } from '../../runtime/time/in-time.ts'
import { isSoon } from '../../runtime/time/in-turn.ts'
import { lastWord } from '../../runtime/calls/last-word.ts'
import type { Post } from '../../runtime/subscriptions/mailbox.ts'
import { closed } from '../../runtime/calls/runner.ts'
import { toWaitMs, type Waiting } from '../../runtime/waiting/wait.ts'
import { hear } from '../jobs/job-end.ts'
import { ClaimedJob } from './claimed-job.ts'
import type { Settling } from './outcomes.ts'
import { type Ack, type Exchanged, isBehindOthers, leaveInTheEnd } from './exchange.ts'
import { onlyFitting } from './misfits.ts'
import { Settler, toAck } from './settler.ts'
import type { LossReason } from '../jobs/lease.ts'
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
    for (const job of acking) job.noteAckFailed(error)
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
  const settler = new Settler(source)
  let first = await unlessAborted(settler.exchange({ acks, limit, leaseMs, worker: '' }), signal, (late) => {
    onAcked(late)
    return settler.giveBack(late)
  })
  onAcked(first)
  while (isBehindOthers(first)) {
    const again = settler.exchange({ acks: [], limit, leaseMs, worker: '' })
    first = await unlessAborted(again, signal, (late) => settler.giveBack(late))
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
  const settler = new Settler(source)
  for (;;) {
    // Before it asks: what is told from here on is heard.
    const post = opening.now
    const exchanging = settler.exchange({ ...terms, acks: [], worker: id })
    const exchanged = await unlessAborted(exchanging, signal, (late) => settler.giveBack(late))
    const leftMs = Math.ceil(endsAt - performance.now())
    if (exchanged.jobs.length > 0 || leftMs <= 0) return exchanged
    const longest = longestSleepMs(post, RECHECKS)
    const ms = Math.min(leftMs, longest, exchanged.recheckMs === 0 ? Infinity : exchanged.recheckMs)
    await (post === null ? rest(ms, deadlines, signal) : post.next(ms, signal))
  }
}

/** The jobs of an exchange; none where their leases were over before its answer came: they are others' to claim. */
export function toClaimedJobs<Payload>(
  source: Source,
  settling: Settling,
  exchanged: Exchanged,
): ClaimedJob<Payload>[] {
  if (exchanged.end.latest <= performance.now()) return []
  const { jobs, options } = exchanged
  const byPlace = options.length === 0 ? null : new Map(options.map((each) => [each.at, each]))
  return jobs.map((_, at) => new ClaimedJob<Payload>(source, settling, exchanged, at, byPlace?.get(at)))
}

/** The jobs are told what became of the acks that went along with a claim: why they were refused, by their places. */
export function tellAcked(jobs: readonly ClaimedJob[], refused: ReadonlyMap<number, LossReason>): void {
  for (const [at, job] of jobs.entries()) job.noteAcked(refused.get(at) ?? null)
}
