import { clear } from '../generated/lock.ts'
import { checkFunction, checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError, WaitTimeoutError } from '../runtime/errors/errors.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Grant } from '../runtime/keeper/grant.ts'
import { KeptLease, type LeaseTerms } from '../runtime/leases/kept-lease.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Lease } from '../runtime/leases/lease.ts'
import { LeasesByToken } from '../runtime/leases/lease-by-token.ts'
import { toMaxHoldMs } from '../runtime/leases/lease-options.ts'
import { type DetachedLease, acquireDetached } from '../runtime/leases/acquire-detached.ts'
import { standInLine } from '../runtime/waiting/line.ts'
import { NestedLease } from '../runtime/leases/nested-lease.ts'
import { runUnder } from '../runtime/leases/run-under.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { learnNotifyChannel, lineTermsOf } from '../runtime/waiting/notify-channel.ts'
import { Unit } from '../runtime/connection/unit.ts'
import type { Waiting } from '../runtime/waiting/wait.ts'
import { type AcquireTerms, ExclusiveSide, type LockSide, SharedSide } from './attempts.ts'
import { inspectLock, type LockInspection } from './inspection.ts'
import { type LockOptions, placeOf, toTerms } from './lock-options.ts'

export type { LockOptions } from './lock-options.ts'

export interface AcquireOptions extends Waiting {
  /**
   * A lease on this lock that the caller already holds: the lock is then not acquired again. A reader's lease is
   * valid for `shared` only. Default: none.
   */
  held?: Lease
}

const OPTIONS = ['lease', 'maxHold', 'fair', 'group', 'holder'] as const
const ACQUIRE_OPTIONS = ['wait', 'signal', 'held'] as const

/** Access to one lock: exclusive, or shared with other readers. */
export class LockAccess {
  readonly name: string
  readonly #unit: Unit
  readonly #side: LockSide
  readonly #leaseTerms: LeaseTerms

  constructor(name: string, unit: Unit, side: LockSide, leaseMs: number, maxHoldMs: number) {
    this.name = name
    this.#unit = unit
    this.#side = side
    this.#leaseTerms = {
      kind: side.kind,
      unit,
      release: (token, trace) => side.release(token, trace),
      resource: `lock '${name}'`,
      leaseMs,
      maxHoldMs,
    }
  }

  /** Extends and releases leases on this lock by their tokens alone, also from another process. */
  get byToken(): LeasesByToken {
    return new LeasesByToken(this.#leaseTerms)
  }

  /**
   * One attempt that does not wait in line. Resolves to null when the lock is not available. Throws
   * InvalidArgumentError.
   */
  async tryAcquire(options: Record<string, never> = {}): Promise<Lease | null> {
    checkOptions('options', options, [])
    return this.stand({})
  }

  /**
   * Acquires the lock. Waits for it up to `wait`, by default not at all. Throws WaitTimeoutError after `wait`, or the
   * signal's reason.
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    return this.#acquire(options)
  }

  /**
   * Runs the task while the lock is held and resolves to its result. `lease.signal` aborts when the lock is lost or
   * `signal` aborts. Throws the errors of `acquire` and of the task, and LeaseLostError when the lease ended before
   * the task.
   */
  async run<Value>(
    task: (lease: Lease) => Promise<Value> | Value,
    options: AcquireOptions = {},
  ): Promise<Value> {
    checkFunction('task', task)
    return runUnder(await this.#acquire(options), task, options.signal)
  }

  /**
   * Acquires a detached lease, for a holder outside this process such as the client of a service: this process does
   * not extend it. Waits up to `wait`. Resolves to status `granted` with token and end, or to status `held` with the
   * longest time until the lock can become free. Throws the signal's reason.
   */
  async acquireDetached(options: Waiting = {}): Promise<DetachedLease> {
    checkOptions('options', options, ['wait', 'signal'])
    const { leaseMs } = this.#leaseTerms
    const terms = { ...lineTermsOf(this.#unit, options), leaseMs, refusal: 'held' } as const
    return acquireDetached(this.#side, terms)
  }

  async #acquire(options: AcquireOptions): Promise<KeptLease | NestedLease> {
    checkOptions('options', options, ACQUIRE_OPTIONS)
    options.signal?.throwIfAborted()
    if (options.held !== undefined) return new NestedLease(await this.#own(options.held))
    const lease = await this.stand(options)
    if (lease !== null) return lease
    throw new WaitTimeoutError(this.#leaseTerms.resource, options.wait)
  }

  /** @internal Like `acquire`, for elections; null after `wait`. */
  async stand(waiting: Waiting): Promise<KeptLease | null> {
    const grant = await standInLine(this.#side, lineTermsOf(this.#unit, waiting))
    return grant === null ? null : this.keep(grant)
  }

  /** @internal For sets of locks: releases a lease whose grant was never answered. */
  abandon(id: string): Promise<unknown> {
    return this.#side.abandon(id)
  }

  /** @internal For sets of locks: the lease of a grant by the server. */
  keep(grant: Grant): KeptLease {
    return new KeptLease(grant, this.#leaseTerms, this.#unit.runtime.keeper)
  }

  /** An exclusive lease also permits reading; a reader's lease does not permit exclusive access. */
  async #own(held: Lease): Promise<KeptLease | NestedLease> {
    const isOurs = held instanceof KeptLease || held instanceof NestedLease
    const isEnough = isOurs && held.beginning === this.#unit.beginning && this.#side.isCoveredBy(held.kind)
    if (isEnough && (await this.#isHere(held))) return held
    throw new InvalidArgumentError(
      'held',
      'must be a live lease on this lock; the lease of a reader is valid for `shared` only',
    )
  }

  /** A lease of another instance may belong to a lock of the same name on another server. */
  async #isHere({ unit, token }: KeptLease | NestedLease): Promise<boolean> {
    if (unit.runtime === this.#unit.runtime) return true
    const { holders } = await inspectLock(this.#unit)
    return holders.some((holder) => holder.token === token)
  }
}

/**
 * At most one holder at a time, for a limited time. A lock is a lease: the holder must finish or extend it before it
 * expires. A lock cannot stop a suspended process: pass `lease.token` to the resource that you protect (Kleppmann,
 * "How to do distributed locking", 2016).
 */
export class Lock extends LockAccess {
  /** Shared access for readers: any number of readers at once, never together with an exclusive holder. */
  readonly shared: LockAccess
  /** @internal For sets of locks: its place. */
  readonly unit: Unit
  /** @internal For sets of locks: the terms under which it is acquired. */
  readonly terms: AcquireTerms

  constructor(runtime: Runtime, name: string, options: LockOptions = {}) {
    checkOptions('options', options, OPTIONS)
    const unit = new Unit(runtime, placeOf(checkName('name', name), options.group))
    const terms = toTerms(options)
    const maxHoldMs = options.maxHold === undefined ? Infinity : toMaxHoldMs(options.maxHold)
    const side = new ExclusiveSide(unit, terms)
    super(name, unit, side, terms.leaseMs, maxHoldMs)
    this.shared = new LockAccess(name, unit, new SharedSide(unit, terms), terms.leaseMs, maxHoldMs)
    this.unit = unit
    this.terms = terms
  }

  /** Reads the state of the lock: its holders and its waiters, at most 100 of each. */
  inspect(): Promise<LockInspection> {
    return inspectLock(this.unit)
  }

  /**
   * Deletes the lock, even while it is held: its leases are lost, and waiters ask again at once. A holder in this
   * instance is notified at once, any other at its next extension. Resolves to false when the lock did not exist.
   */
  async clear(): Promise<boolean> {
    const first: Trace = {}
    const { channel, sharded } = await learnNotifyChannel(this.unit, first)
    const { keeper } = this.unit.runtime
    const clearIt = (trace: Trace) => this.unit.run(clear, { channel, sharded }, Object.assign(trace, first))
    const { existed } = await keeper.clearing(this.unit.beginning, clearIt)
    return existed
  }
}
