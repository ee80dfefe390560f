// One call that acks done jobs and claims others.

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
  /** The most jobs to claim; 0 for none. */
  readonly limit: number
  readonly leaseMs: number
  /** The name of the worker to wake up; empty for none. */
  readonly worker: string
}

/** The part of the answer that every claimed job has. */
export interface DeliveredJob {
  readonly number: string
  readonly token: number
  readonly attempt: number
  readonly name: string
  readonly payload: Buffer
}

export interface Exchanged {
  /** The server's clock, read at some time after `askedAt` by `performance.now()`. */
  readonly nowMs: number
  readonly askedAt: number
  /** How long the jobs are claimed. */
  readonly leaseMs: number
  readonly jobs: readonly DeliveredJob[]
  readonly options: AckAndClaimAnswer['options']
  /** When the leases end, by the server's clock. */
  readonly endsAtMs: number
  /** The same by `performance.now()`: one object for all jobs, because an answer may bring many. */
  readonly end: End
  /** Whether the worker will be woken up; for one that leaves, whether it waited until now and was not woken up. */
  readonly waits: boolean
  /** In how many milliseconds it has to poll anyway, even if it does not wait; 0 for no polling. */
  readonly recheckMs: number
  readonly paused: boolean
  /** Why acks were refused, by their index. */
  readonly refused: ReadonlyMap<number, LossReason>
}

/** No job came although there are some: they follow ghosts in the list, so the claim is repeated. */
export function isBehindOthers({ jobs, waits, recheckMs }: Exchanged): boolean {
  return jobs.length === 0 && !waits && recheckMs > 0
}

// For so many calls the fast path is not tried: it would be declined again, and cost an extra call.
const SLOW_CALLS = 8

/** Releases the jobs of a call whose answer did not reach its caller. */
export type GiveBack = (exchanged: Exchanged) => Promise<unknown>

const NOTHING: Exchange = { acks: [], limit: 0, leaseMs: 0, worker: '' }

/** Rejects as any call does, at `by` at the latest. */
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
  // Jobs that are claimed while the instance begins to close are released: so the answer is awaited.
  const atClose = limit > 0 && acks.length === 0 ? 'goes on' : 'gives back'
  const exchanged = unit.inSlot((run) => exchangeInSlot(run, source, exchanging), { atClose, by })
  if (source.agreement === null || limit === 0) return exchanged
  return orOther(exchanged, source.agreement)
}

/** If there are no jobs, the queue may have other partitions than this process thinks. */
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
  // A worker that leaves passes its wake-up on, which the fast path cannot do.
  const mayBeQuick = (wanted.limit > 0 || wanted.acks.length > 0) && --source.pace.slowly < 0
  if (mayBeQuick) {
    const answer = await run(ackAndClaimPlain, (given) => argumentsOf(source, wanted, (id = given)), again)
    if (answer.status === 'claimed') return quickly(source, wanted, answer)
    source.pace.slowly = SLOW_CALLS
  }
  // A declined call keeps its id.
  const answer = await run(ackAndClaim, (given) => argumentsOf(source, wanted, id ?? given), again)
  return slowly(source, wanted, answer)
}

/**
 * Repeats a call by its id, without its work. If the script has done that call, also on the fast path, it repeats the
 * answer. If not, the id is used up, and the original call can claim nothing any more.
 */
async function askAgain(source: QueueSource, wanted: Exchanging, id: CallId): Promise<void> {
  const args = argumentsOf(source, NOTHING, id)
  const answer = await source.unit.run(ackAndClaim, args, { atClose: 'gives back' })
  await wanted.giveBack?.(slowly(source, wanted, answer))
}

/** Written out, as everything on this hot path: spreading several objects into one costs more than sending it. */
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

/** The fields that answers of plain jobs do not have. */
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

/** The tokens are consecutive, and a single name is that of all jobs. */
function plainJobs({ token, numbers, names, payloads }: PlainJobs): DeliveredJob[] {
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
  // The attempt itself has acked its job before.
  const refused = reasonsOf(answer.refused.filter(({ why }) => why !== 'acked'))
  const jobs = answer.jobs.map((job) => ({ ...job, number: String(job.number) }))
  return { nowMs, askedAt, leaseMs, jobs, options, endsAtMs, end, waits, recheckMs, paused, refused }
}

// A caller that stops waiting notifies the server, with retries. Otherwise its name would stay there as long as its
// process is subscribed, and wake-ups and jobs would go to it that no one takes.

/** Leaves room for other calls. */
const MOST_AT_ONCE = 100

/** The names that a queue or a partition may still consider waiting, by its key prefix. */
const staying = new WeakMap<Runtime, Map<string, Set<string>>>()

/** Notifies the server once. Rejects as any call does. */
export function leave(source: QueueSource, worker: string): Promise<Exchanged> {
  return exchange(source, { acks: [], limit: 0, leaseMs: 0, worker })
}

/** Resolves after the first try; a failed one is retried in the background. Never rejects. */
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

/** Retries with one name; once that succeeds, the others follow. */
async function leaveAll(source: QueueSource, names: Set<string>, failure: unknown): Promise<void> {
  // The loop includes names that are added meanwhile.
  for (const name of names) {
    await inTheEnd(() => leave(source, name), failure)
    names.delete(name)
    await leaveTogether(source, names)
  }
}

/** Stops when one has failed. */
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
