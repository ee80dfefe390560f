// What is said about the end of an attempt that is not done.

import { checkText } from '../runtime/arguments.ts'
import { type Duration, toMs } from '../runtime/duration.ts'

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

const MAX_MESSAGE_BYTES = 4096

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
  return { kind: checkText('kind', kind ?? byDefault, 200), message: short(message) }
}

function short(message: unknown): string {
  const text = String(message)
  return Buffer.byteLength(text) <= MAX_MESSAGE_BYTES
    ? text
    : Buffer.from(text).toString('utf8', 0, MAX_MESSAGE_BYTES)
}
