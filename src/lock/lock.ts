import { clear } from '../generated/lock.ts'
import { checkFunction, checkOptions } from '../runtime/values/arguments.ts'
import { InvalidArgumentError, WaitTimeoutError } from '../runtime/errors/errors.ts'
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
import { learnTold, lineTermsOf } from '../runtime/waiting/notify-channel.ts'
import { Unit } from '../runtime/connection/unit.ts'
import type { Waiting } from '../runtime/waiting/wait.ts'
import { type AcquireTerms, ExclusiveSide, type LockSide, SharedSide } from './attempts.ts'
import { inspectLock, type LockInspection } from './inspection.ts'
import { type LockOptions, placeOf, toTerms } from './lock-options.ts'

export type { LockOptions } from './lock-options.ts'

export interface AcquireOptions extends Waiting {
  /**
   * A lease on this lock that the caller has already: the lock is then not acquired again. That of a reader counts for
   * `shared` only.
   */
  held?: Lease
}

const OPTIONS = ['lease', 'maxHold', 'fair', 'group', 'holder'] as const
const ACQUIRE_OPTIONS = ['wait', 'signal', 'held'] as const

/** Ways to get one lock: alone, or together with other readers. */
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

  /** Leases on this lock, for callers that know only their tokens. */
  get byToken(): LeasesByToken {
    return new LeasesByToken(this.#leaseTerms)
  }

  /** One attempt, without standing in line. Resolves to null when somebody else has the lock. */
  async tryAcquire(options: Record<string, never> = {}): Promise<Lease | null> {
    checkOptions('options', options, [])
    return this.stand({})
  }

  /**
   * Waits for the lock, by default not at all. Throws WaitTimeoutError after `wait`, or the signal's reason.
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    return this.#acquire(options)
  }

  /**
   * Runs the task under the lock and resolves to what it gives; `lease.signal` aborts should the lock be lost, or
   * when `signal` does. Throws as `acquire`, or LeaseLostError when the lease ended before the task.
   */
  async run<Value>(
    task: (lease: Lease) => Promise<Value> | Value,
    options: AcquireOptions = {},
  ): Promise<Value> {
    checkFunction('task', task)
    return runUnder(await this.#acquire(options), task, options.signal)
  }

  /**
   * As `acquire`, for somebody else, such as the client of a service: nothing here extends the lease. Resolves
   * to its token and end, or to `held` and for how long at most. Throws the signal's reason.
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

  /** @internal As `acquire`, for elections; null after `wait`. */
  async stand(waiting: Waiting): Promise<KeptLease | null> {
    const grant = await standInLine(this.#side, lineTermsOf(this.#unit, waiting))
    return grant === null ? null : this.keep(grant)
  }

  /** @internal For sets of locks: gives back what an attempt got without an answer. */
  abandon(id: string): Promise<unknown> {
    return this.#side.abandon(id, { listens: false })
  }

  /** @internal For sets of locks: the lease that the server has granted. */
  keep(grant: Grant): KeptLease {
    return new KeptLease(grant, this.#leaseTerms, this.#unit.runtime.keeper)
  }

  /** Who holds the lock alone may read, too; a reader does not hold it alone. */
  async #own(held: Lease): Promise<KeptLease | NestedLease> {
    const isOurs = held instanceof KeptLease || held instanceof NestedLease
    const isEnough = isOurs && held.beginning === this.#unit.beginning && this.#side.isCoveredBy(held.kind)
    if (isEnough && (await this.#isHere(held))) return held
    throw new InvalidArgumentError(
      'held',
      'must be a lease on this lock; that of a reader counts for `shared` only',
    )
  }

  /** A lease of another instance may be on a lock of the same name on another server. */
  async #isHere({ unit, token }: KeptLease | NestedLease): Promise<boolean> {
    if (unit.runtime === this.#unit.runtime) return true
    const { holders } = await inspectLock(this.#unit)
    return holders.some((holder) => holder.token === token)
  }
}

/**
 * At most one holder at a time, for a limited time. A lock is a lease: whoever holds it must finish, extend or
 * lose it. It cannot stop a process that sleeps: hand `lease.token` to what you protect (Kleppmann, "How to
 * do distributed locking", 2016).
 */
export class Lock extends LockAccess {
  /** For those who only read: any number of them at once, and nobody who holds the lock alone. */
  readonly shared: LockAccess
  /** @internal For sets of locks: its place. */
  readonly unit: Unit
  /** @internal For sets of locks: how it is acquired. */
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

  /** A read-only picture: who holds the lock and who waits for it, at most 100 of each. */
  inspect(): Promise<LockInspection> {
    return inspectLock(this.unit)
  }

  /**
   * Deletes the lock, whoever holds it: its lease is lost, and those who wait go on. A holder of this instance is told
   * at once, another one at its next extension. Resolves to false when there was nothing.
   */
  async clear(): Promise<boolean> {
    const { channel, sharded } = await learnTold(this.unit)
    const { keeper } = this.unit.runtime
    const clearIt = () => this.unit.run(clear, { channel, sharded })
    const { existed } = await keeper.clearing(this.unit.beginning, clearIt)
    return existed
  }
}
