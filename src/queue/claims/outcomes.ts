// What may become of an attempt at a job, what is said of it, and how the server is told.

import { checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import type { End } from '../../runtime/keeper/grant.ts'
import { cut, nameOf, stackOf } from '../../runtime/errors/thrown.ts'
import type { Leased, LossReason } from '../jobs/lease.ts'
import type { Note } from '../jobs/notes.ts'
import type { Advanced, NextJob } from './next-job.ts'

export interface RetryOptions {
  /** How long until the next attempt; default: by the job's backoff. */
  delay?: Duration
  /** What failed: jobs that die of the same kind are kept together. Default `retried`. */
  kind?: string
  /** More about it, for people. */
  message?: string
}

export interface ReleaseOptions {
  /** How long until others may begin; default: they may at once. */
  delay?: Duration
}

export interface BuryOptions {
  /** What failed: dead jobs of one kind are kept together. Default `buried`. */
  kind?: string
  /** More about it, for people. */
  message?: string
}

/** Why an attempt failed. */
export interface Failure {
  readonly kind: string
  readonly message: string
}

/** What may become of an attempt. */
export type AttemptOutcome = 'acked' | 'retried' | 'buried' | 'released'

/** An attempt, as it is told to the server. */
export interface Attempt extends Leased {
  /** How long its lease lasts for certain; 0 when it is settled or lost. */
  readonly remainingMs: number
  /** When its lease is over, by `performance.now()`. */
  readonly endsAt: number
  readonly isClaimed: boolean
  /** The server's answer to its ack: null, or why it was refused. */
  noteAckAnswered(refused: LossReason | null): void
  /** Its ack failed, and is not sent again. */
  noteAckEnded(error: unknown): void
  /** It is not known whether its ack took effect, where the error says so. */
  noteAckFailed(error: unknown): void
  /** Until when its lease lasts. */
  noteExtended(end: End, expiresAtMs: number): void
  /** The job is somebody else's, or nobody's. */
  lose(why: LossReason): void
}

/** Whether somebody may begin to work on it. A process that stood still has not noticed yet that the lease is over. */
export function isHeld(job: Attempt): boolean {
  if (job.remainingMs === 0) job.lose('lost')
  return job.isClaimed
}

/** How the outcome of an attempt reaches the server. Each rejects with LeaseLostError when the job was lost. */
export interface Settling {
  /** True where somebody keeps the leases of the jobs, and calls `lose` when they end. */
  readonly keepsLeases: boolean
  /** The job is told by `noteAckAnswered` or `noteAckEnded`. `result`: encoded. */
  ack(job: Attempt, result: string | Uint8Array): void
  advance(job: Leased, next: NextJob, result: unknown): Promise<Advanced>
  retry(job: Attempt, delayMs: number, failure: Failure): Promise<'retried' | 'buried'>
  bury(job: Attempt, failure: Failure): Promise<void>
  release(job: Attempt, delayMs: number): Promise<void>
  extend(job: Attempt, leaseMs: number): Promise<void>
  /** Resolves to null, or why the job was lost before. */
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
export function burialOf(options: BuryOptions): Failure {
  checkOptions('options', options, ['kind', 'message'])
  return toFailure(options, 'buried')
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
export function toFailure({ kind, message = '' }: BuryOptions, byDefault: string): Failure {
  return { kind: checkText('kind', kind ?? byDefault, MAX_KIND_BYTES), message: short(message) }
}

/** What was thrown, whatever it is: failures of one kind are kept together, by the name of the error. */
export function failureOf(thrown: unknown): Failure {
  return { kind: cut(nameOf(thrown), MAX_KIND_BYTES) || 'thrown', message: short(stackOf(thrown)) }
}

function short(message: unknown): string {
  return cut(typeof message === 'string' ? message : stackOf(message), MAX_MESSAGE_BYTES)
}
