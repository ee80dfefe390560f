import { hostname } from 'node:os'
import { clear } from '../generated/lock.ts'
import { checkInteger, checkOneOf, checkOptions, checkText } from '../runtime/arguments.ts'
import { type Duration, toMs } from '../runtime/duration.ts'
import { InvalidArgumentError, LeaseLostError, WaitTimeoutError } from '../runtime/errors.ts'
import type { Grant } from '../runtime/grant.ts'
import { checkName, encodeName } from '../runtime/keys.ts'
import { KeptLease, type Lease, type LeaseTerms, NestedLease, runUnder } from '../runtime/lease.ts'
import { type Lent, lend } from '../runtime/lending.ts'
import { type LineTerms, standInLine } from '../runtime/line.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { channelOf, toldOn } from '../runtime/told.ts'
import { type Place, Unit } from '../runtime/unit.ts'
import { toWaitMs, type Waiting } from '../runtime/wait.ts'
import { type AcquireTerms, ExclusiveSide, type LockSide, SharedSide } from './attempts.ts'
import { inspectLock, type LockInspection } from './inspection.ts'

export interface LockOptions {
  /** How long the lock is leased; it is extended while it is held. Default 30 seconds. */
  lease?: Duration
  /** How long it is extended by itself at most, from its grant on; '0s': not at all. Default: no limit. */
  maxHold?: Duration
  /** Who gets a lock that becomes free: the first in line, or whoever comes first. Default 'fair'. */
  order?: 'fair' | 'barging'
  /**
   * Locks of one group lie in one slot, so that several of them can be acquired at once (`redis.locks`). A lock
   * is another lock in another group. Default: each lies where its name puts it.
   */
  group?: string
  /** What `inspect` calls the holder; default: host name and process id. */
  holder?: string
}

export interface AcquireOptions extends Waiting {
  /** A lease on this lock that the caller has already: the lock is then not acquired again. */
  held?: Lease
}

const OPTIONS = ['lease', 'maxHold', 'order', 'group', 'holder'] as const
const ACQUIRE_OPTIONS = ['wait', 'signal', 'held'] as const
const SINCE = '6.2.0'

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
      resource: `lock ${name}`,
      leaseMs,
      maxHoldMs,
    }
  }

  /** One attempt, without standing in line. Resolves to null when somebody else has the lock. */
  tryAcquire(): Promise<Lease | null> {
    return this.#stand({})
  }

  /**
   * Waits for the lock, by default not at all. Throws WaitTimeoutError after `wait`, or the signal's reason.
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    checkOptions('options', options, ACQUIRE_OPTIONS)
    if (options.held !== undefined) return new NestedLease(this.#own(options.held))
    const lease = await this.#stand(options)
    if (lease !== null) return lease
    throw new WaitTimeoutError(`lock ${this.name} was not free within ${options.wait ?? 'one attempt'}`)
  }

  /**
   * Runs the task under the lock and resolves to what it gives; `lease.signal` aborts should the lock be lost.
   * Throws as `acquire`, or LeaseLostError when the lease ended before the task.
   */
  async run<Value>(
    task: (lease: Lease) => Promise<Value> | Value,
    options: AcquireOptions = {},
  ): Promise<Value> {
    return runUnder(await this.acquire(options), task)
  }

  /**
   * As `acquire`, for somebody else, such as the client of a service: nothing here extends the lease. Resolves
   * to its token and end, or to how long the lock is held at most. Rejects with the signal's reason.
   */
  async lend(options: Waiting = {}): Promise<Lent> {
    checkOptions('options', options, ['wait', 'signal'])
    const { kind, leaseMs } = this.#leaseTerms
    return lend(this.#side, { ...this.#lineTerms(options), kind, beginning: this.#unit.beginning, leaseMs })
  }

  /** Gives a lease back by its token, as another process got it. Throws LeaseLostError when it has ended. */
  async release(token: number): Promise<void> {
    const trace = { repeated: false }
    if (!(await this.#side.release(checkToken(token), trace))) throw this.#lost(token)
  }

  /**
   * Makes a lease last `lease` from now; resolves to its length and to when it ends by the server's clock.
   * Throws LeaseLostError when it has ended.
   */
  async extend(token: number, lease: Duration): Promise<{ leaseMs: number; expiresAtMs: number }> {
    const leaseMs = toMs('lease', lease, MAX_LEASE)
    const { beginning } = this.#unit
    const { endsAtMs } = await this.#side.kind.extend([{ beginning, token: checkToken(token), leaseMs }])
    const [expiresAtMs = 0] = endsAtMs
    if (expiresAtMs === 0) throw this.#lost(token)
    return { leaseMs, expiresAtMs }
  }

  async #stand(waiting: Waiting): Promise<Lease | null> {
    const grant = await standInLine(this.#side, this.#lineTerms(waiting))
    if (grant === null) return null
    const lease = this.keep(grant)
    // Nobody else will: a lease that was handed over is short until it is extended for the first time.
    if (this.#leaseTerms.maxHoldMs === 0) await lease.confirm()
    return lease
  }

  /** For sets of locks: gives back what an attempt got without an answer. */
  abandon(id: string): Promise<unknown> {
    return this.#side.abandon(id, { listens: false })
  }

  /** For sets of locks: the lease that the server has granted. */
  keep(grant: Grant): KeptLease {
    return new KeptLease(grant, this.#leaseTerms, this.#unit.runtime.keeper)
  }

  #lineTerms(waiting: Waiting): LineTerms {
    const { mailbox } = this.#unit.runtime
    const channel = (): string | Promise<string> => channelOf(this.#unit)
    return { mailbox, channel, waitMs: toWaitMs(waiting), signal: waiting.signal }
  }

  #lost(token: number): LeaseLostError {
    return new LeaseLostError(this.#leaseTerms.resource, token)
  }

  #own(held: Lease): KeptLease | NestedLease {
    const isOurs = held instanceof KeptLease || held instanceof NestedLease
    if (isOurs && held.beginning === this.#unit.beginning) return held
    throw new InvalidArgumentError('held', 'must be a lease on this lock')
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
  /** For sets of locks: its place, and how it is acquired. */
  readonly unit: Unit
  readonly terms: AcquireTerms

  constructor(runtime: Runtime, name: string, options: LockOptions = {}) {
    checkOptions('options', options, OPTIONS)
    const unit = new Unit(runtime, placeOf(checkName('name', name), options.group))
    const terms = toTerms(options)
    const maxHoldMs =
      options.maxHold === undefined ? Infinity : toMs('maxHold', options.maxHold, { min: '0s' })
    const side = new ExclusiveSide(unit, terms)
    super(name, unit, side, terms.leaseMs, maxHoldMs)
    this.shared = new LockAccess(name, unit, new SharedSide(unit, terms), terms.leaseMs, maxHoldMs)
    this.unit = unit
    this.terms = terms
  }

  /** Who holds the lock and who waits for it, at most 100 of each. */
  inspect(): Promise<LockInspection> {
    return inspectLock(this.unit)
  }

  /** Deletes the lock, whoever holds it: its lease is lost, and those who wait go on. True when it existed. */
  async clear(): Promise<boolean> {
    await this.unit.learn()
    const { channel, sharded } = toldOn(this.unit)
    const { existed } = await this.unit.run(clear, { channel, sharded })
    return existed
  }
}

/** Locks of a group share the tag of the group; their own names stand behind it. */
function placeOf(name: string, group: string | undefined): Place {
  if (group === undefined) return { structure: 'lock', name, since: SINCE }
  return { structure: 'lock', name: checkName('group', group), beside: `${encodeName(name)}-`, since: SINCE }
}

const MAX_LEASE = { max: '30d' } as const

function toTerms({ lease = '30s', order = 'fair', holder }: LockOptions): AcquireTerms {
  return {
    leaseMs: toMs('lease', lease, { min: '10ms', ...MAX_LEASE }),
    barging: checkOneOf('order', order, ['fair', 'barging']) === 'barging',
    holder: holder === undefined ? `${hostname()}:${process.pid}` : checkText('holder', holder, 128),
  }
}

function checkToken(token: unknown): number {
  return checkInteger('token', token, 1, Number.MAX_SAFE_INTEGER)
}
