// What is said about the end of an attempt that is not done.

import { checkOptions, checkText } from '../../runtime/values/arguments.ts'
import { type Duration, toMs } from '../../runtime/values/duration.ts'
import { cut, nameOf, stackOf } from '../../runtime/errors/thrown.ts'

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
