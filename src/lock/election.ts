// Leader election on a lock: candidates wait in line, and the holder of the lock leads.
//
//   WAITING ──granted──► LEADING ──────────── the task ended, or the lease was lost ────────────► WAITING
//      │                    │ stepDown, close, or the signal aborts                                  ▲
//      │                    ▼                                                                        │
//      │                LEAVING: no longer leads; the lock is released when the task has ended, ─────┤
//      │                         at the latest when its lease ends                                   │ closed
//      └──────────────── close, the signal aborts, or the instance closes ──────────────────────► CLOSED
//
// The lock is released only after the task has ended, so that two tasks never run at once. From LEAVING on the lease
// is no longer extended, so that a task that ignores its signal cannot keep the lock.

import { Joined, onAbort } from '../runtime/time/aborts.ts'
import { checkFunction, checkOptions } from '../runtime/values/arguments.ts'
import { LeaseLostError } from '../runtime/errors/errors.ts'
import { pause } from '../runtime/time/in-time.ts'
import type { KeptLease } from '../runtime/leases/kept-lease.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { Retries } from '../runtime/time/retries.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Lock, type LockOptions } from './lock.ts'

/** One term as leader. */
export interface Term {
  /** The fencing token, greater than that of every earlier leader. Pass it to the resource that you protect. */
  readonly token: number
  /** Aborts when leadership is lost or should be given up, like the signal of a lease. */
  readonly signal: AbortSignal
  /** Throws LeaseLostError unless this process leads now; correct also after a suspension or a step-down. */
  assertLeading(): void
  /**
   * Gives up leadership at once: `signal` aborts, and the lease is no longer extended. Another candidate is elected
   * when the task has ended, at the latest when the lease ends.
   */
  stepDown(): void
}

export type ElectionOptions = Omit<LockOptions, 'fair'>

export interface CampaignOptions {
  /** Ends the campaign when it aborts: a current term is given up. Default: none. */
  signal?: AbortSignal
  /**
   * Called with each error: one that the task threw, or the reason why no server could be reached. Default: errors
   * are ignored.
   */
  onError?: (error: unknown) => void
}

const OPTIONS = ['lease', 'maxHold', 'group', 'holder'] as const
const WAIT = '1h'
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 5000
// The pause after a term that ended at once: it prevents a tight loop of elections.
const SHORT_TERM_MS = 100

/** Elects one leader among all processes that campaign under the same name. */
export class Election {
  readonly name: string
  readonly #runtime: Runtime
  readonly #lock: Lock

  constructor(runtime: Runtime, name: string, options: ElectionOptions = {}) {
    checkOptions('options', options, OPTIONS)
    this.#runtime = runtime
    this.#lock = new Lock(runtime, name, options)
    this.name = this.#lock.name
  }

  /**
   * Stays a candidate until the campaign is closed. Each time this process is elected, `onElected` runs with the
   * term. When `onElected` settles, leadership is given up and the process becomes a candidate again. Returns the
   * campaign at once. Throws InvalidArgumentError.
   */
  campaign(onElected: (term: Term) => Promise<void> | void, options: CampaignOptions = {}): Campaign {
    checkOptions('options', options, ['signal', 'onError'])
    checkFunction('onElected', onElected)
    return new Campaign(this.#runtime, this.#lock, onElected, options)
  }

  /** The current leader, or null when there is none. `expiresAtMs` is in milliseconds of the server's clock. */
  async leader(): Promise<{ holder: string; token: number; expiresAtMs: number } | null> {
    const { mode, holders } = await this.#lock.inspect()
    return mode === 'held' ? (holders[0] ?? null) : null
  }
}

/** A candidacy. Leaving an `await using` block closes it. */
export class Campaign implements AsyncDisposable {
  readonly #lock: Lock
  readonly #onElected: (term: Term) => Promise<void> | void
  readonly #onError: (error: unknown) => void
  readonly #aborter = new AbortController()
  readonly #retries = new Retries(FIRST_RETRY_MS, LAST_RETRY_MS)
  readonly #ended: Promise<void>
  #term: TermInOffice | null = null

  constructor(
    runtime: Runtime,
    lock: Lock,
    onElected: (term: Term) => Promise<void> | void,
    { signal, onError }: CampaignOptions,
  ) {
    this.#lock = lock
    this.#onElected = onElected
    this.#onError = notifying('onError', onError)
    const forgetSignal = onAbort(signal, () => this.#end(signal?.reason))
    const forgetInstance = runtime.atClose(() => this.#closeWithInstance())
    this.#ended = this.#standAgainAndAgain().finally(() => {
      forgetSignal()
      forgetInstance()
    })
  }

  /** True while this process leads; correct also after a suspension. */
  get leading(): boolean {
    return this.#term?.leading ?? false
  }

  /**
   * Gives up leadership, if this process leads. Another candidate is elected when the task has ended, at the latest
   * when the lease ends. This process then joins the end of the line.
   */
  stepDown(): void {
    this.#term?.stepDown()
  }

  /**
   * Ends the candidacy and gives up leadership at once, like `stepDown`. Resolves when the task has ended and the
   * lock is released.
   */
  close(): Promise<void> {
    return this.#closeBecause(new Error('the campaign was closed'))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The leader's signal aborts with the same reason as every lease of the instance. */
  #closeWithInstance(): Promise<void> {
    this.#term?.stop(closed())
    return this.#closeBecause(closed())
  }

  #closeBecause(reason: Error): Promise<void> {
    this.#end(reason)
    return this.#ended
  }

  #end(reason: unknown): void {
    this.#aborter.abort(reason)
    this.#term?.stepDown()
  }

  async #standAgainAndAgain(): Promise<void> {
    const { signal } = this.#aborter
    while (!signal.aborted) {
      try {
        const lease = await this.#lock.stand({ wait: WAIT, signal })
        if (lease === null) continue
        this.#retries.reset()
        const began = performance.now()
        await this.#serve(lease)
        if (performance.now() - began < SHORT_TERM_MS) await pause(SHORT_TERM_MS, signal)
      } catch (error) {
        if (signal.aborted) continue
        this.#onError(error)
        await pause(this.#retries.after(error), signal).catch(() => undefined)
      }
    }
  }

  async #serve(lease: KeptLease): Promise<void> {
    const term = new TermInOffice(lease, this.#aborter.signal)
    this.#term = term
    try {
      // The campaign may have ended while the lease was granted.
      if (!term.signal.aborted) await this.#onElected(term)
    } catch (error) {
      // The error of the task is more useful than an error of the release.
      await this.#leave(term, lease).catch(() => undefined)
      throw error
    }
    await this.#leave(term, lease)
  }

  async #leave(term: TermInOffice, lease: KeptLease): Promise<void> {
    this.#term = null
    term.end()
    await lease.end().catch((error: unknown) => {
      if (!(error instanceof LeaseLostError)) throw error
    })
  }
}

class TermInOffice implements Term {
  readonly #lease: KeptLease
  readonly #aborts: Joined

  constructor(lease: KeptLease, campaign: AbortSignal) {
    this.#lease = lease
    this.#aborts = new Joined([lease.signal, campaign])
  }

  get signal(): AbortSignal {
    // Reading the lease's signal makes the lease check its clock; this signal must abort with it.
    if (this.#lease.signal.aborted) this.#aborts.abort(this.#lease.signal.reason)
    return this.#aborts.signal
  }

  get token(): number {
    return this.#lease.token
  }

  get leading(): boolean {
    return !this.signal.aborted && this.#lease.remainingMs > 0
  }

  assertLeading(): void {
    if (this.signal.aborted) throw this.#lease.lostError()
    this.#lease.assertHeld()
  }

  stepDown(): void {
    this.#lease.letGo()
    this.#aborts.abort(new Error('the leader stepped down'))
  }

  /** The instance closes. */
  stop(cause: Error): void {
    this.#lease.stop(cause)
  }

  /** The term is over: its listeners are removed from both signals. */
  end(): void {
    this.#aborts.part()
  }
}
