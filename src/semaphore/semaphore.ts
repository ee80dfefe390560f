import { clear } from '../generated/semaphore.ts'
import { checkFunction, checkInteger, checkOptions } from '../runtime/values/arguments.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { WaitTimeoutError } from '../runtime/errors/errors.ts'
import { KeptLease, type LeaseTerms } from '../runtime/leases/kept-lease.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Lease } from '../runtime/leases/lease.ts'
import { LeasesByToken } from '../runtime/leases/lease-by-token.ts'
import { toHolder, toLeaseMs, toMaxHoldMs } from '../runtime/leases/lease-options.ts'
import { type DetachedLease, acquireDetached } from '../runtime/leases/acquire-detached.ts'
import { standInLine } from '../runtime/waiting/line.ts'
import { runUnder } from '../runtime/leases/run-under.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { learnTold, lineTermsOf } from '../runtime/waiting/notify-channel.ts'
import { Unit } from '../runtime/connection/unit.ts'
import type { Waiting } from '../runtime/waiting/wait.ts'
import { Permits, type PermitTerms, WeightedAttempts } from './attempts.ts'
import { inspectSemaphore, type SemaphoreInspection } from './inspection.ts'

export interface SemaphoreOptions {
  /**
   * How much may be out at once, all permits together. Of handles that disagree the one that asked last is
   * right, until `resize` sets the limit for all of them.
   */
  limit: number
  /** How long a permit is leased; it is extended while it is held. Default 30 seconds. */
  lease?: Duration
  /** How long it is extended by itself at most, from its grant on; '0s': not at all. Default: no limit. */
  maxHold?: Duration
  /** What `inspect` calls the holder; default: host name and process id. */
  holder?: string
}

export interface PermitOptions extends Waiting {
  /** How much of the limit the permit takes; default 1. */
  weight?: number
}

const OPTIONS = ['limit', 'lease', 'maxHold', 'holder'] as const
const PERMIT_OPTIONS = ['weight', 'wait', 'signal'] as const
const SINCE = '6.2.0'
const MAX_LIMIT = 1_000_000_000

/**
 * Permits for a limited time, of which so many are out at once as the limit allows. Whoever waits is served
 * first come first served: a large weight is waited for, and no small one passes it (the "completely fair"
 * semaphore that Josiah Carlson asks for in "Redis in Action", 6.3).
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
   * One attempt, without standing in line. Resolves to null when too little is free, or somebody waits. Throws
   * InvalidArgumentError when the weight is above the limit.
   */
  async tryAcquire(options: Pick<PermitOptions, 'weight'> = {}): Promise<Lease | null> {
    checkOptions('options', options, ['weight'])
    return this.#stand(options)
  }

  /**
   * Waits for a permit, by default not at all. Throws WaitTimeoutError after `wait`, the signal's reason, or
   * InvalidArgumentError when the weight is above the limit, also when it was lowered meanwhile.
   */
  async acquire(options: PermitOptions = {}): Promise<Lease> {
    return this.#acquire(options)
  }

  /**
   * Runs the task under a permit and resolves to what it gives; `lease.signal` aborts should it be lost, or when
   * `signal` does. Throws as `acquire`, or LeaseLostError when the permit ended before the task.
   */
  async run<Value>(
    task: (lease: Lease) => Promise<Value> | Value,
    options: PermitOptions = {},
  ): Promise<Value> {
    checkFunction('task', task)
    return runUnder(await this.#acquire(options), task, options.signal)
  }

  /**
   * As `acquire`, for somebody else, such as the client of a service: nothing here extends the permit. Resolves
   * to its token and end, or to `full` and how long to wait for one at most. Throws the signal's reason, or
   * InvalidArgumentError as `acquire`.
   */
  async acquireDetached(options: PermitOptions = {}): Promise<DetachedLease<'full'>> {
    checkOptions('options', options, PERMIT_OPTIONS)
    const { weight, ...waiting } = options
    const { leaseMs } = this.#leaseTerms
    const terms = { ...lineTermsOf(this.#unit, waiting), leaseMs, refusal: 'full' } as const
    return acquireDetached(this.#attempts(weight), terms)
  }

  /** Leases on permits, for callers that know only their tokens. */
  get byToken(): LeasesByToken {
    return new LeasesByToken(this.#leaseTerms)
  }

  /**
   * Sets the limit for all handles, whatever theirs say, until `clear`, or until nobody has used the semaphore
   * for 30 days. Nobody loses a permit: below what is out, nothing is granted until enough has come back. Throws
   * InvalidArgumentError.
   */
  async resize(limit: number): Promise<void> {
    await this.#permits.resize(checkLimit(limit))
  }

  /** A read-only picture: what is out, who has it and who waits, at most 100 of each. */
  inspect(): Promise<SemaphoreInspection> {
    return inspectSemaphore(this.#unit, this.#terms.limit)
  }

  /**
   * Deletes the semaphore: permits that are out are lost, and those who wait go on. Holders of this instance are told at
   * once, others at their next extension. Resolves to false when there was nothing.
   */
  async clear(): Promise<boolean> {
    const { channel, sharded } = await learnTold(this.#unit)
    const { keeper } = this.#unit.runtime
    const clearIt = () => this.#unit.run(clear, { channel, sharded })
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
