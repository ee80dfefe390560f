import { clear } from '../generated/semaphore.ts'
import { checkFunction, checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { WaitTimeoutError } from '../runtime/errors/errors.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import { KeptLease, type LeaseTerms } from '../runtime/leases/kept-lease.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Lease } from '../runtime/leases/lease.ts'
import { LeasesByToken } from '../runtime/leases/lease-by-token.ts'
import { toHolder, toLeaseMs, toMaxHoldMs } from '../runtime/leases/lease-options.ts'
import { type DetachedLease, acquireDetached } from '../runtime/leases/acquire-detached.ts'
import { standInLine } from '../runtime/waiting/line.ts'
import { runUnder } from '../runtime/leases/run-under.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { learnNotifyChannel, lineTermsOf } from '../runtime/waiting/notify-channel.ts'
import { Unit } from '../runtime/connection/unit.ts'
import type { Waiting } from '../runtime/waiting/wait.ts'
import { Permits, type PermitTerms, WeightedAttempts } from './attempts.ts'
import { inspectSemaphore, type SemaphoreInspection } from './inspection.ts'

export interface SemaphoreOptions {
  /**
   * The greatest total weight of permits granted at once, 1 to 1,000,000,000. When handles disagree, the limit of the
   * last call applies, until `resize` sets one limit for all handles.
   */
  limit: number
  /**
   * The length of the lease, 10 ms to 30 days. It is extended automatically while the permit is held. A lease below
   * 100 ms may expire nevertheless when a renewal is a few milliseconds late. Default: 30 seconds.
   */
  lease?: Duration
  /**
   * The longest time for which the lease is extended automatically, counted from its grant; `'0s'`: never extended.
   * Default: no limit.
   */
  maxHold?: Duration
  /** The name of the holder in `inspect`, up to 128 bytes. Default: host name and process id. */
  holder?: string
}

export interface PermitOptions extends Waiting {
  /** The weight of the permit: the part of the limit that it uses, from 1 to the limit. Default: 1. */
  weight?: number
}

const OPTIONS = ['limit', 'lease', 'maxHold', 'holder'] as const
const PERMIT_OPTIONS = ['weight', 'wait', 'signal'] as const
const SINCE = '6.2.0'
const MAX_LIMIT = 1_000_000_000

/**
 * Permits with leases: the weights of all granted permits never exceed the limit. Waiters are served in order of
 * arrival: a small weight never overtakes a large one that waits (the "completely fair" semaphore that Josiah Carlson
 * asks for in "Redis in Action", 6.3).
 */
export class Semaphore {
  readonly name: string
  readonly #unit: Unit
  readonly #permits: Permits
  readonly #terms: PermitTerms
  readonly #leaseTerms: LeaseTerms

  constructor(runtime: Runtime, name: string, options: SemaphoreOptions) {
    checkOptions('options', options, OPTIONS)
    this.name = checkName('name', name)
    this.#unit = new Unit(runtime, { structure: 'semaphore', name, since: SINCE })
    this.#permits = new Permits(this.#unit)
    this.#terms = toTerms(options)
    this.#leaseTerms = {
      kind: this.#permits.kind,
      unit: this.#unit,
      release: (token, trace) => this.#permits.release(token, trace),
      resource: `semaphore '${name}'`,
      leaseMs: this.#terms.leaseMs,
      maxHoldMs: options.maxHold === undefined ? Infinity : toMaxHoldMs(options.maxHold),
    }
  }

  /**
   * One attempt that does not wait in line. Resolves to null when too little of the limit is free, or another caller
   * waits. Throws InvalidArgumentError when the weight exceeds the limit.
   */
  async tryAcquire(options: Pick<PermitOptions, 'weight'> = {}): Promise<Lease | null> {
    checkOptions('options', options, ['weight'])
    return this.#stand(options)
  }

  /**
   * Acquires a permit. Waits for it up to `wait`, by default not at all. Throws WaitTimeoutError after `wait`, the
   * signal's reason, or InvalidArgumentError when the weight exceeds the limit, also when the limit was lowered
   * meanwhile.
   */
  async acquire(options: PermitOptions = {}): Promise<Lease> {
    return this.#acquire(options)
  }

  /**
   * Runs the task while a permit is held and resolves to its result. `lease.signal` aborts when the permit is lost or
   * `signal` aborts. Throws the errors of `acquire` and of the task, and LeaseLostError when the permit ended before
   * the task.
   */
  async run<Value>(
    task: (lease: Lease) => Promise<Value> | Value,
    options: PermitOptions = {},
  ): Promise<Value> {
    checkFunction('task', task)
    return runUnder(await this.#acquire(options), task, options.signal)
  }

  /**
   * Acquires a detached permit, for a holder outside this process such as the client of a service: this process does
   * not extend it. Waits up to `wait`. Resolves to status `granted` with token and end, or to status `full` with the
   * time until a permit ends unless it is extended (`retryAfterMs`). Throws the signal's reason, or
   * InvalidArgumentError like `acquire`.
   */
  async acquireDetached(options: PermitOptions = {}): Promise<DetachedLease<'full'>> {
    checkOptions('options', options, PERMIT_OPTIONS)
    const { weight, ...waiting } = options
    const { leaseMs } = this.#leaseTerms
    const terms = { ...lineTermsOf(this.#unit, waiting), leaseMs, refusal: 'full' } as const
    return acquireDetached(this.#attempts(weight), terms)
  }

  /** Extends and releases permits by their tokens alone, also from another process. */
  get byToken(): LeasesByToken {
    return new LeasesByToken(this.#leaseTerms)
  }

  /**
   * Sets the limit for all handles, instead of the limit in their options, until `clear` or until the semaphore has
   * been unused for 30 days. Granted permits stay valid: below their total weight nothing is granted until enough is
   * released. Throws InvalidArgumentError.
   */
  async resize(limit: number): Promise<void> {
    await this.#permits.resize(checkLimit(limit))
  }

  /** Reads the state of the semaphore: its permits, their holders and its waiters, at most 100 of each. */
  inspect(): Promise<SemaphoreInspection> {
    return inspectSemaphore(this.#unit, this.#terms.limit)
  }

  /**
   * Deletes the semaphore: all permits are lost, and waiters ask again at once. Holders in this instance are notified
   * at once, others at their next extension. Resolves to false when the semaphore did not exist.
   */
  async clear(): Promise<boolean> {
    const first: Trace = {}
    const { channel, sharded } = await learnNotifyChannel(this.#unit, first)
    const { keeper } = this.#unit.runtime
    const clearIt = (trace: Trace) => this.#unit.run(clear, { channel, sharded }, Object.assign(trace, first))
    const { existed } = await keeper.clearing(this.#unit.beginning, clearIt)
    return existed
  }

  async #acquire(options: PermitOptions): Promise<KeptLease> {
    checkOptions('options', options, PERMIT_OPTIONS)
    const lease = await this.#stand(options)
    if (lease !== null) return lease
    throw new WaitTimeoutError(this.#leaseTerms.resource, options.wait)
  }

  async #stand({ weight, ...waiting }: PermitOptions): Promise<KeptLease | null> {
    const grant = await standInLine(this.#attempts(weight), lineTermsOf(this.#unit, waiting))
    return grant === null ? null : new KeptLease(grant, this.#leaseTerms, this.#unit.runtime.keeper)
  }

  #attempts(weight = 1): WeightedAttempts {
    const checked = checkInteger('weight', weight, 1, MAX_LIMIT)
    return new WeightedAttempts(this.#unit, this.#permits, this.#terms, checked)
  }
}

function toTerms({ limit, lease, holder }: SemaphoreOptions): PermitTerms {
  return { limit: checkLimit(limit), leaseMs: toLeaseMs(lease), holder: toHolder(holder) }
}

function checkLimit(limit: unknown): number {
  return checkInteger('limit', limit, 1, MAX_LIMIT)
}
