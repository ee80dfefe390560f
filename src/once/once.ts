import { checkFunction, checkOptions } from '../runtime/values/arguments.ts'
import { type Codec, codecOr } from '../runtime/values/codec.ts'
import { type Duration, toMs } from '../runtime/values/duration.ts'
import { checkName } from '../runtime/values/keys.ts'
import { toLeaseMs, toMaxHoldMs } from '../runtime/leases/lease-options.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { AttemptsByToken } from './attempts-by-token.ts'
import { type BeginOptions, type Begun, beginAttempt, toBeginTerms } from './begin.ts'
import { clearKey, type Found, findResult, inspectKey, type OnceInspection } from './inspection.ts'
import { type BeginDetachedOptions, type DetachedAttempt, beginDetached } from './begin-detached.ts'
import { type RunOptions, runOnce, type Task } from './run.ts'
import { jsonOrNothing, type OnceSource } from './source.ts'

export interface OnceOptions<Result> {
  /** How long a result is kept, and how long a request is remembered after its lease. Default: 24 hours. */
  resultTtl?: Duration
  /**
   * The length of an attempt's lease, 10 ms to 30 days. It is extended automatically while the process lives; after a
   * crash the key is blocked until it expires. A lease below 100 ms may expire nevertheless when a renewal is a few
   * milliseconds late. Default: 30 seconds.
   */
  lease?: Duration
  /**
   * The longest time for which the lease is extended automatically, counted from the beginning of the attempt;
   * `'0s'`: never extended. Default: one hour.
   */
  maxHold?: Duration
  /**
   * How results become bytes; it is stored with the key, and another codec is rejected. Default: JSON, which also
   * keeps `undefined`.
   */
  codec?: Codec<Result>
}

/**
 * Idempotency keys: the work of a key is done once, and every caller gets its result. An attempt holds a lease; if
 * its process dies, another attempt takes over after the lease.
 */
export class Once<Result> {
  readonly name: string
  readonly #source: OnceSource<Result>

  constructor(runtime: Runtime, name: string, options: OnceOptions<Result> = {}) {
    checkOptions('options', options, ['resultTtl', 'lease', 'maxHold', 'codec'])
    this.name = checkName('name', name)
    this.#source = {
      runtime,
      name: this.name,
      codec: codecOr(options.codec, jsonOrNothing<Result>),
      leaseMs: toLeaseMs(options.lease),
      maxHoldMs: toMaxHoldMs(options.maxHold ?? '1h'),
      resultTtlMs: toMs('resultTtl', options.resultTtl ?? '24h'),
    }
  }

  /**
   * Runs the task and resolves to its result. If the work was done before, resolves to the stored result instead.
   * Waits up to `wait` for another attempt that is under way. A task that throws frees the key for a retry.
   *
   * Throws the error of the task; WaitTimeoutError when another attempt is still under way after `wait`;
   * InvalidArgumentError when the key was used with another fingerprint; LeaseLostError when another attempt began
   * meanwhile; ResultNotKeptError when the work was done but its result is not available; or the signal's reason.
   */
  async run(key: string, task: Task<Result>, options: RunOptions = {}): Promise<Result> {
    checkOptions('options', options, ['fingerprint', 'wait', 'signal'])
    checkFunction('task', task)
    return runOnce(this.#source, key, task, options)
  }

  /**
   * Begins an attempt, or resolves to what is known of the key: a stored result, a conflict, or an attempt under way.
   * Throws InvalidArgumentError, ResultNotKeptError, or LeaseLostError when the attempt with this id was released.
   */
  async begin(key: string, options: BeginOptions = {}): Promise<Begun<Result>> {
    checkOptions('options', options, ['fingerprint', 'id'])
    return beginAttempt(this.#source, toBeginTerms(key, options))
  }

  /**
   * Begins a detached attempt, for a holder outside this process such as the client of a service: this process does
   * not extend it, and `byToken` ends it. Waits up to `wait` while another attempt is under way. Throws the errors of
   * `begin`, or the signal's reason.
   */
  async beginDetached(key: string, options: BeginDetachedOptions = {}): Promise<DetachedAttempt<Result>> {
    checkOptions('options', options, ['fingerprint', 'id', 'wait', 'signal'])
    return beginDetached(this.#source, key, options)
  }

  /** Completes, extends and releases attempts by their keys and tokens alone, also from another process. */
  get byToken(): AttemptsByToken<Result> {
    return new AttemptsByToken(this.#source)
  }

  /** The stored result of a key; null without one. Throws ResultNotKeptError when it cannot be read. */
  async get(key: string): Promise<Found<Result> | null> {
    return findResult(this.#source, key)
  }

  /** Reads the state of a key. */
  async inspect(key: string): Promise<OnceInspection> {
    return inspectKey(this.#source, key)
  }

  /** Deletes a key with its result; an attempt under way is lost. Resolves to false when the key was unknown. */
  async clear(key: string): Promise<boolean> {
    return clearKey(this.#source, key)
  }
}

export { Attempt } from './attempt.ts'
export type { AttemptsByToken } from './attempts-by-token.ts'
export type { BeginOptions, Begun } from './begin.ts'
export type { Completed } from './end.ts'
export { fingerprintOf } from './fingerprint.ts'
export type { Found, OnceInspection } from './inspection.ts'
export type { BeginDetachedOptions, DetachedAttempt } from './begin-detached.ts'
export type { RunOptions, Task, TaskContext } from './run.ts'
