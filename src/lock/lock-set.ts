import { acquireAll } from '../generated/lock.ts'
import { Joined } from '../runtime/time/aborts.ts'
import { checkFunction, checkOptions } from '../runtime/values/arguments.ts'
import type { LastWord } from '../runtime/subscriptions/abandoned.ts'
import { abandon, guarded } from '../runtime/waiting/attempts.ts'
import type { Duration } from '../runtime/values/duration.ts'
import { InvalidArgumentError, WaitTimeoutError } from '../runtime/errors/errors.ts'
import { askingAt, type Grant, toGrant } from '../runtime/keeper/grant.ts'
import { unlessAborted } from '../runtime/time/in-time.ts'
import type { KeptLease } from '../runtime/leases/kept-lease.ts'
import { checkName } from '../runtime/values/keys.ts'
import type { Lease, TaskLease } from '../runtime/leases/lease.ts'
import { runUnder } from '../runtime/leases/run-under.ts'
import type { Trace } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { toWaitMs, type Waiting } from '../runtime/waiting/wait.ts'
import { serveOthers } from './attempts.ts'
import { Lock, type LockOptions } from './lock.ts'

const MOST_NAMES = 100

/** The leases on all names of a set. */
export interface SetLease extends Lease {
  /**
   * The greatest of the tokens. It may exceed the next token of a single name, because the clocks of two nodes
   * differ: pass on those of `tokens`.
   */
  readonly token: number
  /** The token of each name, greater than every earlier token of that name. */
  readonly tokens: ReadonlyMap<string, number>
}

/**
 * Several locks, acquired all or none. They are acquired one after the other in the order of their names, not in the
 * order given, so that two sets never deadlock (Havender, "Avoiding deadlock in multitasking systems", 1968). Each
 * lock may be in another slot. Locks of one `group` are acquired in one step when all are free.
 */
export class LockSet {
  readonly names: readonly string[]
  readonly #runtime: Runtime
  readonly #locks: readonly Lock[]
  readonly #together: boolean

  constructor(runtime: Runtime, names: readonly string[], options: LockOptions = {}) {
    this.names = checkNames(names)
    this.#runtime = runtime
    this.#locks = this.names.map((name) => new Lock(runtime, name, options))
    this.#together = options.group !== undefined
  }

  /**
   * One attempt at all locks. Resolves to null, and keeps none, when one is held or has a waiter. Throws
   * InvalidArgumentError.
   */
  async tryAcquire(options: Record<string, never> = {}): Promise<SetLease | null> {
    checkOptions('options', options, [])
    return this.#together ? this.#takeTogether() : this.#takeAll((lock) => lock.stand({}))
  }

  /**
   * Waits up to `wait` for all locks. Throws WaitTimeoutError after `wait`, or the signal's reason; then none is
   * kept.
   */
  async acquire(options: Waiting = {}): Promise<SetLease> {
    return this.#acquire(options)
  }

  async #acquire(options: Waiting): Promise<AllLeases> {
    checkOptions('options', options, ['wait', 'signal'])
    options.signal?.throwIfAborted()
    const endsAt = performance.now() + toWaitMs(options)
    const atOnce = this.#together ? await this.#takeTogether(options.signal) : null
    if (atOnce !== null) return atOnce
    let awaited = ''
    const take = (lock: Lock): Promise<KeptLease | null> => {
      awaited = lock.name
      return acquireUntil(lock, endsAt, options.signal)
    }
    do {
      const lease = await this.#takeAll(take, options.signal)
      if (lease !== null) return lease
      // Another holder keeps one of them until then, or one expired while this set waited for another: then all are
      // acquired again.
    } while (performance.now() < endsAt)
    throw new WaitTimeoutError(`lock '${awaited}'`, options.wait)
  }

  /**
   * Runs the task while all locks are held, like `lock.run`. `lease.signal` aborts when one lock is lost or `signal`
   * aborts.
   */
  async run<Value>(task: (lease: SetLease) => Promise<Value> | Value, options: Waiting = {}): Promise<Value> {
    checkFunction('task', task)
    return runUnder(await this.#acquire(options), task, options.signal)
  }

  /** In one script call; null when a lock is held or has a live waiter. */
  async #takeTogether(signal?: AbortSignal): Promise<AllLeases | null> {
    let served = -1
    for (;;) {
      const taken = await this.#takeAtOnce(signal)
      if (taken === null || taken instanceof AllLeases) return taken
      const lock = this.#locks[taken.awaitedAt]
      if (lock === undefined || taken.awaitedAt <= served) return null
      // Its waiters may have died.
      served = taken.awaitedAt
      await unlessAborted(serveOthers(lock.unit), signal)
    }
  }

  /** Null when one lock is held. `awaitedAt`: the lock at this place is free, but has waiters. */
  async #takeAtOnce(signal?: AbortSignal): Promise<AllLeases | { awaitedAt: number } | null> {
    const { runner, mailbox } = this.#runtime
    const [{ unit, terms }] = this.#locks as [Lock]
    const trace: Trace = {}
    await unlessAborted(unit.learnFor(trace), signal)
    const states = this.#locks.map((lock) => `${lock.unit.beginning}state`)
    const askedAt = askingAt()
    const { holder, leaseMs } = terms
    const id = mailbox.newId()
    const asking = runner.run(acquireAll, states, { id, holder, leaseMs }, trace)
    const giveUp = (): void => abandon(this.#attempts, id, mailbox, { asking, trace })
    const answer = await unlessAborted(asking, signal).catch((error: unknown) => {
      giveUp()
      throw error
    })
    if (answer.status !== 'granted') {
      // A late copy of the call would acquire locks that no caller knows of.
      if (trace.repeated === true) giveUp()
      return answer.status === 'awaited' ? { awaitedAt: answer.at } : null
    }
    const grants = answer.leases.map((lease) => toGrant({ ...lease, nowMs: answer.nowMs }, askedAt))
    return this.#kept(grants, { id, trace, signal })
  }

  /** The leases of an attempt; null when one expired before its answer arrived. */
  async #kept(
    grants: readonly Grant[],
    { id, trace, signal }: { id: string; trace: Trace; signal: AbortSignal | undefined },
  ): Promise<AllLeases | null> {
    const { mailbox } = this.#runtime
    const leases = grants.map((grant, at) => {
      const lock = this.#locks[at] as Lock
      const one = { abandon: () => lock.abandon(id), node: lock.unit.node }
      return [lock.name, lock.keep(guarded(grant, one, id, mailbox, { trace }))] as const
    })
    const all = new AllLeases(new Map(leases))
    if (all.remainingMs > 0) return all
    await unlessAborted(giveBack(leases.map(([, lease]) => lease)), signal)
    return null
  }

  /** All locks of one attempt. */
  get #attempts(): LastWord {
    const [{ unit }] = this.#locks as [Lock]
    return { abandon: (id) => Promise.all(this.#locks.map((lock) => lock.abandon(id))), node: unit.node }
  }

  /**
   * Null, with none kept, when a lock is unavailable or expired before the last one was acquired. After an error the
   * caller does not wait for the release of the others, which may take as long again.
   */
  async #takeAll(
    take: (lock: Lock) => Promise<KeptLease | null>,
    signal?: AbortSignal,
  ): Promise<AllLeases | null> {
    const taken = new Map<string, KeptLease>()
    try {
      for (const lock of this.#locks) {
        const lease = await take(lock)
        if (lease === null) break
        taken.set(lock.name, lease)
      }
    } catch (error) {
      void giveBack([...taken.values()])
      throw error
    }
    if (taken.size === this.#locks.length) {
      const all = new AllLeases(taken)
      if (all.remainingMs > 0) return all
    }
    await unlessAborted(giveBack([...taken.values()]), signal)
    return null
  }
}

/** Null when the lock did not become free by `endsAt`. */
function acquireUntil(lock: Lock, endsAt: number, signal?: AbortSignal): Promise<KeptLease | null> {
  const wait: Duration = `${Math.max(0, Math.ceil(endsAt - performance.now()))}ms`
  return lock.stand({ wait, ...(signal ? { signal } : {}) })
}

/**
 * Releases an incomplete set; leases that have ended are skipped. A caller that aborted does not wait for the
 * releases.
 */
async function giveBack(leases: readonly KeptLease[]): Promise<void> {
  await Promise.allSettled(leases.map((lease) => lease.end()))
}

class AllLeases implements SetLease, TaskLease {
  readonly tokens: ReadonlyMap<string, number>
  readonly token: number
  readonly #leases: readonly KeptLease[]
  readonly #aborts: Joined

  constructor(leases: ReadonlyMap<string, KeptLease>) {
    this.#leases = [...leases.values()]
    this.tokens = new Map([...leases].map(([name, { token }]) => [name, token]))
    this.token = Math.max(...this.tokens.values())
    this.#aborts = new Joined(this.#leases.map(({ signal }) => signal))
  }

  get signal(): AbortSignal {
    // Reading its signal makes each lease check its clock.
    for (const { signal } of this.#leases) if (signal.aborted) break
    return this.#aborts.signal
  }

  heed(signal: AbortSignal): void {
    this.#aborts.join(signal)
  }

  /** Nothing to do: the set's signal already listens to the signals of all leases. */
  begin(): void {}

  get expiresAtMs(): number {
    return Math.min(...this.#leases.map(({ expiresAtMs }) => expiresAtMs))
  }

  get remainingMs(): number {
    return Math.min(...this.#leases.map(({ remainingMs }) => remainingMs))
  }

  assertHeld(): void {
    for (const lease of this.#leases) lease.assertHeld()
  }

  async extend(lease?: Duration): Promise<void> {
    await settleAll(this.#leases.map((one) => one.extend(lease)))
  }

  /**
   * Releases all locks. Throws LeaseLostError when one lease had already ended; the others are released all the same.
   */
  async release(): Promise<void> {
    await settleAll(this.#leases.map((lease) => lease.release()))
    this.#aborts.part()
  }

  /** Retries by itself: no caller is left to repeat it. */
  async end(): Promise<void> {
    try {
      await settleAll(this.#leases.map((lease) => lease.end()))
    } finally {
      this.#aborts.part()
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.end()
  }
}

/** Waits for all, then throws the first error in their order. */
async function settleAll(promises: readonly Promise<void>[]): Promise<void> {
  const settled = await Promise.allSettled(promises)
  const failed = settled.find((one) => one.status === 'rejected')
  if (failed) throw failed.reason
}

/** Sorted by bytes, without duplicates. */
function checkNames(names: unknown): string[] {
  if (!Array.isArray(names) || names.length === 0 || names.length > MOST_NAMES) {
    throw new InvalidArgumentError('names', `must be a list of 1 to ${MOST_NAMES} names`)
  }
  const known = new Set(names.map((name, at) => checkName(`names[${at}]`, name)))
  if (known.size !== names.length) throw new InvalidArgumentError('names', 'must not name a lock twice')
  return [...known].toSorted()
}
