// Leader election on a lock: candidates stand in line, and whoever has the lock leads.
//
//   WAITING ──granted──► LEADING ──────────── the task ended, or the lease was lost ────────────► WAITING
//      │                    │ stepDown, close, or the signal aborts                                  ▲
//      │                    ▼                                                                        │
//      │                LEAVING: leads no more; the office is given up when the task has ended, ─────┤
//      │                         at the latest when its lease ends                                   │ closed
//      └──────────────── close, the signal aborts, or the instance closes ──────────────────────► CLOSED
//
// The office is not given up before the task has ended, lest two of them run at once; and the lease is not extended any
// more from then on, lest a task that heeds nothing keep the office.

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

/** One term of office. */
export interface Term {
  /** Greater than that of every earlier leader: hand it to what you protect. */
  readonly token: number
  /** Aborts when the office is lost, or should be given up; as that of a lease. */
  readonly signal: AbortSignal
  /** Throws LeaseLostError unless this process leads now, also when it has been asleep, or has stepped down. */
  assertLeading(): void
  /**
   * Leads no more, from now on: `signal` aborts. Another candidate follows when the task has ended, and at the latest
   * when the lease ends, which is not extended any more.
   */
  stepDown(): void
}

export type ElectionOptions = Omit<LockOptions, 'fair'>

export interface CampaignOptions {
  /** Ends the campaign: the term in office is given up. */
  signal?: AbortSignal
  /** Told what went wrong: what the task threw, or why no server could be asked. Default: nothing. */
  onError?: (error: unknown) => void
}

const OPTIONS = ['lease', 'maxHold', 'group', 'holder'] as const
const WAIT = '1h'
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 5000
// After a term that was over at once, so that nobody leads in a tight loop.
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
   * Stands as a candidate until it is closed. Whenever this process is elected, `onElected` runs with the term;
   * when it ends, the office is given up and the process stands again.
   */
  campaign(onElected: (term: Term) => Promise<void> | void, options: CampaignOptions = {}): Campaign {
    checkOptions('options', options, ['signal', 'onError'])
    checkFunction('onElected', onElected)
    return new Campaign(this.#runtime, this.#lock, onElected, options)
  }

  /** Who leads, or null. */
  async leader(): Promise<{ holder: string; token: number; expiresAtMs: number } | null> {
    const { mode, holders } = await this.#lock.inspect()
    return mode === 'held' ? (holders[0] ?? null) : null
  }
}

/** A candidacy. Leaving an `await using` block ends it. */
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

  /** True while this process leads, also when it has been asleep. */
  get leading(): boolean {
    return this.#term?.leading ?? false
  }

  /**
   * Leads no more, if it does now. Another candidate follows when the task has ended, and at the latest when the lease
   * ends; this one then stands again, as the last in line.
   */
  stepDown(): void {
    this.#term?.stepDown()
  }

  /**
   * Ends the candidacy: leads no more from now on, as by `stepDown`. Resolves when the task has ended and the office is
   * given up.
   */
  close(): Promise<void> {
    return this.#closeBecause(new Error('the campaign was closed'))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The leader is told what every holder of a lease is. */
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
      // The campaign may have ended while it was granted.
      if (!term.signal.aborted) await this.#onElected(term)
    } catch (error) {
      // What the task threw says more.
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
    // The lease looks at its clock when its signal is asked for, and this one aborts with it.
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

  /** It is over: nothing is left on the signals that it aborts with. */
  end(): void {
    this.#aborts.part()
  }
}
