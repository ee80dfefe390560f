// One call for both: jobs that are done are acked, and others are claimed.

import {
  ackAndClaim,
  type AckAndClaimAnswer,
  ackAndClaimPlain,
  type AckAndClaimPlainAnswer,
} from '../../generated/queue.ts'
import type { CallId } from '../../runtime/calls/call-ids.ts'
import type { Runtime } from '../../runtime/connection/runtime.ts'
import type { RunInSlot } from '../../runtime/connection/unit.ts'
import { askingAt, End, endsAtOf } from '../../runtime/keeper/grant.ts'
import type { Agreement } from '../../runtime/partitions/agreement.ts'
import { inTheEnd } from '../../runtime/time/in-the-end.ts'
import { type Leased, type LossReason, reasonsOf } from '../jobs/attempt.ts'
import type { QueueSource } from '../source/source.ts'

export interface Ack extends Leased {
  readonly result: string | Uint8Array
}

export interface Exchange {
  readonly acks: readonly Ack[]
  /** Jobs to claim at most; 0: none. */
  readonly limit: number
  readonly leaseMs: number
  /** Who is to be woken; empty: nobody. */
  readonly worker: string
}

/** What is told of every claimed job. */
export interface ToldJob {
  readonly number: string
  readonly token: number
  readonly attempt: number
  readonly name: string
  readonly payload: Buffer
}

export interface Exchanged {
  /** The server's clock, at some time after `askedAt` by `performance.now()`. */
  readonly nowMs: number
  readonly askedAt: number
  /** How long the jobs are claimed. */
  readonly leaseMs: number
  readonly jobs: readonly ToldJob[]
  readonly options: AckAndClaimAnswer['options']
  /** Until when the jobs are claimed, by the server's clock and by `performance.now()`. */
  readonly endsAtMs: number
  /** One for all of them, for an answer may bring thousands. */
  readonly end: End
  /** Whether the worker will be woken; of one that waits no more, whether it waited until now, and was not called. */
  readonly waits: boolean
  /** When it has to come back nevertheless, also where it does not wait; 0: it need not. */
  readonly recheckMs: number
  readonly paused: boolean
  /** Why acks were refused, by their places. */
  readonly refused: ReadonlyMap<number, LossReason>
}

/** Nothing came, and not because nothing is there: it stands behind places of jobs that are gone, and is asked for again. */
export function isBehindOthers({ jobs, waits, recheckMs }: Exchanged): boolean {
  return jobs.length === 0 && !waits && recheckMs > 0
}

// Calls for which the quick way is not tried: it would be declined, and cost a call more.
const SLOW_CALLS = 8

/** Gives back what a call has claimed whose answer nobody got. */
export type GiveBack = (exchanged: Exchanged) => Promise<unknown>

const NOTHING: Exchange = { acks: [], limit: 0, leaseMs: 0, worker: '' }

/** Rejects as any call does, `by` then at the latest. */
export async function exchange(
  source: QueueSource,
  wanted: Exchange,
  giveBack?: GiveBack,
  by: number = performance.now() + source.unit.runtime.runner.deadlineMs,
): Promise<Exchanged> {
  const { unit } = source
  if (unit.runtime.server.info === null) await unit.learn(by)
  const { acks, limit, leaseMs, worker } = wanted
  const exchanging = { acks, limit, leaseMs, worker, askedAt: askingAt(), giveBack }
  // What is claimed while the instance begins to close is given back: so its answer is waited for.
  const atClose = limit > 0 && acks.length === 0 ? 'goes on' : 'gives back'
  const exchanged = unit.inSlot((run) => exchangeInSlot(run, source, exchanging), { atClose, by })
  if (source.agreement === null || limit === 0) return exchanged
  return orOther(exchanged, source.agreement)
}

/** Where there are no jobs, they may be in other partitions. */
async function orOther(exchanging: Promise<Exchanged>, agreement: Agreement): Promise<Exchanged> {
  const exchanged = await exchanging
  if (exchanged.jobs.length === 0) await agreement.checkNowAndThen()
  return exchanged
}

interface Exchanging extends Exchange {
  readonly askedAt: number
  readonly giveBack: GiveBack | undefined
}

async function exchangeInSlot(run: RunInSlot, source: QueueSource, wanted: Exchanging): Promise<Exchanged> {
  let id: CallId | undefined
  const again =
    wanted.giveBack && wanted.limit > 0 ? (given: CallId) => askAgain(source, wanted, id ?? given) : undefined
  // Who waits no more passes on what it was called for: that is more than the quick way does.
  const mayBeQuick = (wanted.limit > 0 || wanted.acks.length > 0) && --source.pace.slowly < 0
  if (mayBeQuick) {
    const answer = await run(ackAndClaimPlain, (given) => argumentsOf(source, wanted, (id = given)), again)
    if (answer.status === 'claimed') return quickly(source, wanted, answer)
    source.pace.slowly = SLOW_CALLS
  }
  // What was declined is the same call.
  const answer = await run(ackAndClaim, (given) => argumentsOf(source, wanted, id ?? given), again)
  return slowly(source, wanted, answer)
}

/** The script answers a call that it knows, whatever is asked, and the quick way is known to it; one that it does not know claims nothing from then on. */
async function askAgain(source: QueueSource, wanted: Exchanging, id: CallId): Promise<void> {
  const args = argumentsOf(source, NOTHING, id)
  const answer = await source.unit.run(ackAndClaim, args, { atClose: 'gives back' })
  await wanted.giveBack?.(slowly(source, wanted, answer))
}

/** Written out, as all that is made for each call: spreading several objects into one costs more than sending it. */
function argumentsOf({ unit, codec, spread }: QueueSource, wanted: Exchange, { caller, call }: CallId) {
  const { channel, sharded, counted } = unit.notifyChannel
  const { acks, limit, leaseMs, worker } = wanted
  return {
    codec: codec.name,
    partitions: spread,
    caller,
    call,
    limit,
    leaseMs,
    worker,
    channel,
    sharded,
    counted,
    acks,
  }
}

/** What plain jobs are answered without. */
export const NOTHING_ELSE: Pick<Exchanged, 'options' | 'paused' | 'refused'> = {
  options: [],
  paused: false,
  refused: new Map(),
}

type PlainJobs = Extract<AckAndClaimPlainAnswer, { status: 'claimed' }>

function quickly({ chores }: QueueSource, { leaseMs, askedAt }: Exchanging, answer: PlainJobs): Exchanged {
  void chores.see(answer.chores)
  const { nowMs, endsAtMs, waits, recheckMs } = answer
  const end = new End(endsAtOf(askedAt, endsAtMs - nowMs), askedAt)
  const { options, paused, refused } = NOTHING_ELSE
  const jobs = plainJobs(answer)
  return { nowMs, askedAt, leaseMs, jobs, options, endsAtMs, end, waits, recheckMs, paused, refused }
}

/** Their tokens follow one another, and one name may be that of all. */
function plainJobs({ token, numbers, names, payloads }: PlainJobs): ToldJob[] {
  const [first = ''] = names
  const each = numbers.split(' ')
  return payloads.map((payload, at) => {
    return { number: each[at] ?? '', token: token + at, attempt: 1, name: names[at] ?? first, payload }
  })
}

function slowly(
  { chores }: QueueSource,
  { leaseMs, askedAt }: Exchanging,
  answer: AckAndClaimAnswer,
): Exchanged {
  void chores.see(answer.chores)
  const { nowMs, endsAtMs, waits, recheckMs, options, paused } = answer
  const end = new End(endsAtOf(askedAt, endsAtMs - nowMs), askedAt)
  // An attempt that has acked its job before what it asks for has done it.
  const refused = reasonsOf(answer.refused.filter(({ why }) => why !== 'acked'))
  const jobs = answer.jobs.map((job) => ({ ...job, number: String(job.number) }))
  return { nowMs, askedAt, leaseMs, jobs, options, endsAtMs, end, waits, recheckMs, paused, refused }
}

// Whoever waited for jobs and waits no more says so until the server knows. Else its name would stay there as long as its process
// listens, and be called, or given a job, which nobody takes.

/** Others are to be served as well. */
const MOST_AT_ONCE = 100

/** Names that a queue, or a partition of one, may still take for waiting, by what its keys begin with. */
const staying = new WeakMap<Runtime, Map<string, Set<string>>>()

/** Says it once. Rejects as any call does. */
export function leave(source: QueueSource, worker: string): Promise<Exchanged> {
  return exchange(source, { acks: [], limit: 0, leaseMs: 0, worker })
}

/** Resolves when it was said once; what was in vain is said again. Rejects never. */
export function leaveInTheEnd(source: QueueSource, worker: string): Promise<void> {
  return leave(source, worker).then(
    () => undefined,
    (error: unknown) => leaveLater(source, worker, error),
  )
}

function leaveLater(source: QueueSource, worker: string, failure: unknown): void {
  const { runtime, prefix } = source.unit
  const queues = staying.get(runtime) ?? new Map<string, Set<string>>()
  staying.set(runtime, queues)
  const others = queues.get(prefix)
  if (others !== undefined) return void others.add(worker)
  const names = new Set([worker])
  queues.set(prefix, names)
  void leaveAll(source, names, failure).finally(() => queues.delete(prefix))
}

/** One stands for all: once the server has heard that it leaves, the others say so, too. */
async function leaveAll(source: QueueSource, names: Set<string>, failure: unknown): Promise<void> {
  // Those that come meanwhile are among them.
  for (const name of names) {
    await inTheEnd(() => leave(source, name), failure)
    names.delete(name)
    await leaveTogether(source, names)
  }
}

/** Until one has failed. */
async function leaveTogether(source: QueueSource, names: Set<string>): Promise<void> {
  const leaving = async (name: string): Promise<void> => {
    await leave(source, name)
    names.delete(name)
  }
  for (const all = [...names]; all.length > 0; ) {
    const left = await Promise.allSettled(all.splice(0, MOST_AT_ONCE).map(leaving))
    if (left.some(({ status }) => status === 'rejected')) return
  }
}
