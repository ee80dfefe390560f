// The outcomes of an attempt: their types, their checks, and how they are sent.

import type { ExtensionAnswer } from '../../runtime/keeper/belief.ts'
import { ackAndEnqueue } from '../../generated/queue.ts'
import type { CallId } from '../../runtime/calls/call-ids.ts'
import { cut, nameOf, stackOf } from '../../runtime/errors/thrown.ts'
import type { End } from '../../runtime/keeper/grant.ts'
import { checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { checkName } from '../../runtime/values/keys.ts'
import { learnNotifyChannel } from '../../runtime/waiting/notify-channel.ts'
import { encodeJob, homeOf, toSpec } from '../jobs/enqueuer.ts'
import {
  checkJobName,
  JOB_OPTIONS,
  type JobOptions,
  type JobSpec,
  toSpecOptions,
} from '../jobs/job-options.ts'
import { type Leased, type LossReason, type Note, reasonsOf } from '../jobs/attempt.ts'
import { asCalledAt, refuseOwn, withAddresses } from '../partitions/partitions.ts'
import { type QueueSource, toAddress, toId } from '../source/source.ts'

export interface RetryOptions {
  /** How long until the next attempt; default: the job's backoff. */
  delay?: Duration
  /** The kind of the failure, by which dead jobs are grouped. Default `retried`. */
  kind?: string
  /** More about it, for people. */
  message?: string
}

export interface ReleaseOptions {
  /** How long until the job is ready again; default: at once. */
  delay?: Duration
}

export interface FailOptions {
  /** The kind of the failure, by which dead jobs are grouped. Default `failed`. */
  kind?: string
  /** More about it, for people. */
  message?: string
}

/** Why an attempt failed. */
export interface Failure {
  readonly kind: string
  readonly message: string
}

/** The outcomes of an attempt. */
export type AttemptOutcome = 'acked' | 'retried' | 'dead' | 'released'

/** The internal side of a ClaimedJob, which does not declare this interface, so that users do not see it. */
export interface JobAttempt extends Leased {
  /** For how long its lease is certain to last; 0 when it is settled or lost. */
  readonly remainingMs: number
  /** When its lease ends, by `performance.now()`. */
  readonly endsAt: number
  readonly isClaimed: boolean
  /** Its queue may have been cleared since: only the server knows. */
  readonly isInDoubt: boolean
  /** The server's answer to its ack: null, or why it was refused. */
  noteAckAnswered(refused: LossReason | null): void
  /** Its ack failed, and is not sent again. */
  noteAckEnded(error: unknown): void
  /** A try of its ack failed; an AmbiguousError means that it may have taken effect. */
  noteAckFailed(error: unknown): void
  /** The new end of its lease. */
  noteExtended(end: End, answer: ExtensionAnswer): void
  /** The lease is lost: the job belongs to another attempt, or does not exist. */
  lose(why: LossReason): void
}

/** Whether work on the job may begin. Also detects a lease that ended while the process was suspended. */
export function isHeld(job: JobAttempt): boolean {
  if (job.remainingMs === 0 && !job.isInDoubt) job.lose('lost')
  return job.isClaimed
}

/** Sends the outcome of an attempt. Each method rejects with LeaseLostError when the job was lost. */
export interface Settling {
  /** True if the owner renews the leases, and calls `lose` when they end. */
  readonly keepsLeases: boolean
  /** Reports through `noteAckAnswered` or `noteAckEnded`. `result` is encoded. */
  ack(job: JobAttempt, result: string | Uint8Array): void
  ackAndEnqueue(job: Leased, next: NextJob, result: unknown): Promise<AckedAndEnqueued>
  retry(job: JobAttempt, delayMs: number, failure: Failure): Promise<'retried' | 'dead'>
  fail(job: JobAttempt, failure: Failure): Promise<void>
  release(job: JobAttempt, delayMs: number): Promise<void>
  extend(job: JobAttempt, leaseMs: number): Promise<void>
  /** Resolves to null, or to the reason why the job was lost before. */
  note(note: Note): Promise<LossReason | null>
}

const MAX_KIND_BYTES = 200
const MAX_MESSAGE_BYTES = 4096

/** Options of a call, checked. Throws InvalidArgumentError. */
export function retryOf(options: RetryOptions): Failure & { delayMs: number } {
  checkOptions('options', options, ['delay', 'kind', 'message'])
  return toRetry(options)
}

/** Options of a call, checked. Throws InvalidArgumentError. */
export function failureFrom(options: FailOptions): Failure {
  checkOptions('options', options, ['kind', 'message'])
  return toFailure(options, 'failed')
}

/** Options of a call, checked. Throws InvalidArgumentError. */
export function releaseMsOf(options: ReleaseOptions): number {
  checkOptions('options', options, ['delay'])
  return toReleaseMs(options)
}

/** Throws InvalidArgumentError. */
export function toRetry({ delay, ...failure }: RetryOptions): Failure & { delayMs: number } {
  const delayMs = delay === undefined ? -1 : toMs('delay', delay, { min: '0ms', max: '365d' })
  return { delayMs, ...toFailure(failure, 'retried') }
}

/** Throws InvalidArgumentError. */
export function toReleaseMs({ delay = '0ms' }: ReleaseOptions): number {
  return toMs('delay', delay, { min: '0ms', max: '365d' })
}

/** Throws InvalidArgumentError. */
export function toFailure({ kind, message = '' }: FailOptions, byDefault: string): Failure {
  return { kind: checkText('kind', kind ?? byDefault, MAX_KIND_BYTES), message: short(message) }
}

/** Turns any thrown value into a failure; the name of the error is the kind. */
export function failureOf(thrown: unknown): Failure {
  return { kind: cut(nameOf(thrown), MAX_KIND_BYTES) || 'thrown', message: short(stackOf(thrown)) }
}

function short(message: unknown): string {
  return cut(typeof message === 'string' ? message : stackOf(message), MAX_MESSAGE_BYTES)
}

// Acks jobs and enqueues the jobs that follow them, atomically.

/** The job that follows another one. */
export interface NextJob extends JobOptions {
  /** Name of another queue, with the same codec; default: the queue of the job itself. */
  queue?: string
  name: string
  payload: unknown
}

export interface AckedAndEnqueued {
  /** The id of the new job; null when another queue will assign it. */
  readonly id: string | null
  /** True when its id or unique key was taken: nothing was enqueued, `id` is that of the other job. */
  readonly duplicate: boolean
}

/** The form that the script takes. */
export interface AdvanceStep extends Leased, JobSpec {
  readonly result: string | Uint8Array
  readonly target: string
}

/** The step without the acked job. Throws InvalidArgumentError. */
export function toStep(
  next: NextJob,
  result: string | Uint8Array,
  source: QueueSource,
): Omit<AdvanceStep, 'number' | 'token'> {
  checkOptions('next', next, ['queue', 'name', 'payload', ...JOB_OPTIONS])
  const { queue, name, payload, ...options } = next
  const target = queue === undefined || queue === source.name ? '' : checkName('queue', queue)
  const job = encodeJob(source.codec, checkJobName(name), payload, toSpecOptions(options))
  const spec = { ...toSpec(job), result, target }
  return source.partition === null ? spec : inPartitions(spec, source)
}

/**
 * Checks the payload against the schema of this queue; a promise if the schema is asynchronous. Throws
 * InvalidArgumentError.
 */
export function checkNext(next: NextJob, { checks, name }: QueueSource): Promise<void> | undefined {
  // `toStep` rejects anything that is not an object.
  if (checks === null || typeof next !== 'object' || next === null) return undefined
  const isOwn = next.queue === undefined || next.queue === name
  return isOwn ? checks.check(next.name, next.payload, 'next.payload') : undefined
}

/** A following job whose options decide no partition goes to that of the acked job. Throws InvalidArgumentError. */
function inPartitions<Spec extends JobSpec & { target: string }>(spec: Spec, source: QueueSource): Spec {
  const { name, partitions: count } = source
  const isOwn = spec.target === ''
  const dependencies = withAddresses(spec.dependsOn, source, refuseOwn, isOwn)
  const home = isOwn ? homeOf(spec, count) : null
  if (home === null) return { ...spec, dependsOn: dependencies }
  return { ...spec, dependsOn: dependencies, target: toAddress({ name, partition: { number: home, count } }) }
}

/** The step with its target and dependencies relative to the source that acks the job. */
export function asCalledBy(source: QueueSource, step: AdvanceStep): AdvanceStep {
  if (source.partition === null) return step
  const target = step.target === source.address ? '' : step.target
  return { ...step, target, dependsOn: asCalledAt(target === '' ? source.address : target, step.dependsOn) }
}

/** Sends the steps in one call. A lost job resolves to the reason. */
export async function sendSteps(
  source: QueueSource,
  steps: readonly AdvanceStep[],
): Promise<(AckedAndEnqueued | LossReason)[]> {
  const { unit, codec, chores } = source
  const notifyChannel = await learnNotifyChannel(unit)
  const args = (id: CallId) => ({ codec: codec.name, ...id, ...notifyChannel, steps })
  const answer = await unit.runOnce(ackAndEnqueue, args, { atClose: 'gives back' })
  void chores.see(answer.chores)
  const refused = reasonsOf(answer.refused)
  const duplicates = new Map(answer.duplicates.map(({ at, number }) => [at, number]))
  return steps.map(({ id, target }, at) => {
    const why = refused.get(at)
    if (why !== undefined) return why
    const number = target === '' ? toId(source, duplicates.get(at) ?? answer.first + at) : null
    return { id: id === '' ? number : id, duplicate: duplicates.has(at) }
  })
}
