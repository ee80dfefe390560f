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
  /** How long results are kept, and requests are remembered beyond their lease; default 24 hours. */
  resultTtl?: Duration
  /** How long an attempt is leased; it is extended while its process lives. Default 30 seconds. */
  lease?: Duration
  /** How long it is extended by itself at most, from its beginning on; '0s': not at all. Default one hour. */
  maxHold?: Duration
  /** How results become bytes; default JSON. */
  codec?: Codec<Result>
}

/**
 * Idempotency keys: the work of a key is done once, and everybody gets its result. An attempt holds a
 * lease; when its process dies, the next one takes over.
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
   * Runs the task, unless it was done before: then resolves to its result. Waits up to `wait` for another
   * one who is at it. A task that throws frees the key for a retry.
   *
   * Throws WaitTimeoutError when another attempt is still under way after `wait`, InvalidArgumentError when
   * the key came with another fingerprint, LeaseLostError when another attempt began meanwhile, or the signal's
   * reason.
   */
  async run(key: string, task: Task<Result>, options: RunOptions = {}): Promise<Result> {
    checkOptions('options', options, ['fingerprint', 'wait', 'signal'])
    checkFunction('task', task)
    return runOnce(this.#source, key, task, options)
  }

  /** Begins an attempt, or tells what is known of the key. Throws InvalidArgumentError. */
  async begin(key: string, options: BeginOptions = {}): Promise<Begun<Result>> {
    checkOptions('options', options, ['fingerprint', 'id'])
    return beginAttempt(this.#source, toBeginTerms(key, options))
  }

  /**
   * As `begin`, for somebody else, such as the client of a service: nothing here extends the attempt, which is
   * known by its token. Waits up to `wait` while another one is under way. Throws the signal's reason.
   */
  async beginDetached(key: string, options: BeginDetachedOptions = {}): Promise<DetachedAttempt<Result>> {
    checkOptions('options', options, ['fingerprint', 'id', 'wait', 'signal'])
    return beginDetached(this.#source, key, options)
  }

  /** Attempts, for callers that know only their keys and tokens. */
  get byToken(): AttemptsByToken<Result> {
    return new AttemptsByToken(this.#source)
  }

  /** The result of a key; null while there is none. */
  async get(key: string): Promise<Found<Result> | null> {
    return findResult(this.#source, key)
  }

  /** A read-only picture of a key. */
  async inspect(key: string): Promise<OnceInspection> {
    return inspectKey(this.#source, key)
  }

  /** Forgets a key; an attempt under way is lost. Resolves to false when there was nothing. */
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
