// Leader election on a lock: candidates stand in line, and whoever has the lock leads.
//
//   WAITING ──granted──► LEADING ──the task ended, the lease was lost, or stepDown──► WAITING
//      └──────────────────── close, or the signal aborts ────────────────────► CLOSED

import { onAbort } from '../runtime/aborts.ts'
import { checkOptions } from '../runtime/arguments.ts'
import { LeaseLostError, PeriluneError, WaitTimeoutError } from '../runtime/errors.ts'
import { pause } from '../runtime/in-time.ts'
import type { Lease } from '../runtime/lease.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { Lock, type LockOptions } from './lock.ts'

/** One term of office. */
export interface Term {
  /** Greater than that of every earlier leader: hand it to what you protect. */
  readonly token: number
  /** Aborts when the office is lost, or should be given up. */
  readonly signal: AbortSignal
  /** Throws LeaseLostError unless this process leads now. */
  assertLeading(): void
  /** Gives the office up; another candidate follows. */
  stepDown(): void
}

export type ElectionOptions = Omit<LockOptions, 'order'>

export interface CampaignOptions {
  /** Ends the campaign: the term in office is given up. */
  signal?: AbortSignal
  /** Told what went wrong: what the task threw, or why no server could be asked. Default: nothing. */
  onError?: (error: unknown) => void
}

const OPTIONS = ['lease', 'maxHold', 'group', 'holder'] as const
const WAIT = '1h'
// After a failure, and after a term that was over at once, so that nobody leads in a tight loop.
const REST_MS = 1000
const SHORT_TERM_MS = 100

/** Elects one leader among all processes that campaign under the same name. */
export class Election {
  readonly name: string
  readonly #lock: Lock

  constructor(runtime: Runtime, name: string, options: ElectionOptions = {}) {
    checkOptions('options', options, OPTIONS)
    this.#lock = new Lock(runtime, name, options)
    this.name = this.#lock.name
  }

  /**
   * Stands as a candidate until it is closed. Whenever this process is elected, `onElected` runs with the term;
   * when it ends, the office is given up and the process stands again.
   */
  campaign(onElected: (term: Term) => Promise<void> | void, options: CampaignOptions = {}): Campaign {
    checkOptions('options', options, ['signal', 'onError'])
    return new Campaign(this.#lock, onElected, options)
  }

  /** Who leads, or null. */
  async leader(): Promise<{ holder: string; token: number; expiresAtMs: number } | null> {
    const { holders } = await this.#lock.inspect()
    return holders[0] ?? null
  }
}

/** A candidacy. Leaving an `await using` block ends it. */
export class Campaign implements AsyncDisposable {
  readonly #lock: Lock
  readonly #onElected: (term: Term) => Promise<void> | void
  readonly #onError: (error: unknown) => void
  readonly #aborter = new AbortController()
  readonly #ended: Promise<void>
  #term: TermInOffice | null = null

  constructor(
    lock: Lock,
    onElected: (term: Term) => Promise<void> | void,
    { signal, onError = () => undefined }: CampaignOptions,
  ) {
    this.#lock = lock
    this.#onElected = onElected
    this.#onError = onError
    const forget = onAbort(signal, () => this.#aborter.abort(signal?.reason))
    this.#ended = this.#standAgainAndAgain().finally(forget)
  }

  /** True while this process leads, also when it has been asleep. */
  get leading(): boolean {
    return this.#term?.leading ?? false
  }

  /** Gives the office up, if this process has it; it stands again as the last in line. */
  stepDown(): void {
    this.#term?.stepDown()
  }

  /** Ends the candidacy; resolves when the term in office has ended and the office is given up. */
  async close(): Promise<void> {
    this.#aborter.abort(new Error('the campaign was closed'))
    await this.#ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #standAgainAndAgain(): Promise<void> {
    const { signal } = this.#aborter
    while (!signal.aborted) {
      try {
        const lease = await this.#lock.acquire({ wait: WAIT, signal })
        const began = performance.now()
        await this.#serve(lease)
        if (performance.now() - began < SHORT_TERM_MS) await pause(SHORT_TERM_MS, signal)
      } catch (error) {
        if (error instanceof WaitTimeoutError || signal.aborted) continue
        this.#tell(error)
        if (error instanceof PeriluneError && error.code === 'closed') return
        await pause(REST_MS, signal).catch(() => undefined)
      }
    }
  }

  /** A mistake of the callback must come to light, but not end the campaign. */
  #tell(error: unknown): void {
    try {
      this.#onError(error)
    } catch (thrown) {
      queueMicrotask(() => {
        throw thrown
      })
    }
  }

  async #serve(lease: Lease): Promise<void> {
    const term = new TermInOffice(lease, this.#aborter.signal)
    this.#term = term
    try {
      await this.#onElected(term)
    } finally {
      this.#term = null
      await lease.release().catch((error: unknown) => {
        if (!(error instanceof LeaseLostError)) throw error
      })
    }
  }
}

class TermInOffice implements Term {
  readonly signal: AbortSignal
  readonly #lease: Lease
  readonly #given = new AbortController()

  constructor(lease: Lease, campaign: AbortSignal) {
    this.#lease = lease
    this.signal = AbortSignal.any([lease.signal, campaign, this.#given.signal])
  }

  get token(): number {
    return this.#lease.token
  }

  get leading(): boolean {
    return !this.#given.signal.aborted && this.#lease.remainingMs > 0
  }

  assertLeading(): void {
    this.#lease.assertHeld()
  }

  stepDown(): void {
    this.#given.abort(new Error('the leader stepped down'))
  }
}
