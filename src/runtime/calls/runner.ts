// Runs operations. Every call settles by its deadline: with a value, a definite error, or AmbiguousError. Every script
// is safe to repeat, so a call whose answer was lost is sent again.
//
//   OPEN ──beginClosing──► CLOSING: only calls that give something back run ──close──► CLOSED: no call runs

import type { Driver, ScriptCall } from '../../driver.ts'
import { AnswersDue, type Shares } from './answers-due.ts'
import { Deadlines } from '../time/deadlines.ts'
import { Jitter } from '../time/jitter.ts'
import { DriverError } from '../errors/errors.ts'
import type { Operation } from './operation.ts'
import { Places } from './places.ts'
import { Run, type Runs, type Trace } from './run.ts'

export type { Trace } from './run.ts'

export class Runner implements Runs {
  readonly driver: Driver
  readonly deadlineMs: number
  readonly deadlines: Deadlines = new Deadlines()
  readonly misread: Set<string> = new Set()
  readonly lastDeadlines: Deadlines = new Deadlines()
  readonly answersDue: Places<AnswersDue>
  readonly jitter: Jitter = new Jitter()
  /** Whether shares consist of several keys: then others wait for room that one of them uses. */
  readonly isShared: boolean
  #state: 'open' | 'closing' | 'closed' = 'open'
  /** Calls under way that continue while the instance closes. */
  #goingOn = 0
  #onQuiet: (() => void) | null = null

  constructor(driver: Driver, deadlineMs: number, shares?: Shares) {
    this.driver = driver
    this.deadlineMs = deadlineMs
    this.answersDue = new Places(driver, () => new AnswersDue(shares))
    this.isShared = shares !== undefined
  }

  /** True once no call runs, except those that give something back. */
  get closed(): boolean {
    return this.#state !== 'open'
  }

  /** Runs one operation. Rejects with a PeriluneError, at the latest at its deadline. */
  run<A, R>(operation: Operation<A, R>, keys: readonly string[], args: A, trace: Trace = {}): Promise<R> {
    if (this.#state !== 'open' && !this.#mayStillRun(trace)) return Promise.reject(closed())
    const by = trace.by ?? performance.now() + this.deadlineMs
    const call: ScriptCall = {
      script: operation.script,
      keys,
      args: operation.encode(args),
      send: 'hash',
      by,
    }
    return new Promise<R>((resolve, reject) => {
      new Run<A, R>(this, operation, call, { by, trace, resolve, reject }).attempt()
    })
  }

  /** Settles calls under way and rejects new ones, except those that continue while the instance closes. */
  beginClosing(): void {
    if (this.#state === 'open') this.#state = 'closing'
    this.deadlines.giveUpAll(closed())
  }

  /** Resolves when no such call is under way, and none follows immediately. */
  async untilQuiet(): Promise<void> {
    do {
      if (this.#goingOn > 0) await new Promise<void>((resolve) => (this.#onQuiet = resolve))
      await new Promise((resolve) => setImmediate(resolve))
    } while (this.#goingOn > 0)
  }

  /** Settles all calls under way and rejects new ones. */
  close(): void {
    this.beginClosing()
    this.#state = 'closed'
    this.lastDeadlines.giveUpAll(closed())
  }

  noteBegun(): void {
    this.#goingOn += 1
  }

  noteEnded(): void {
    this.#goingOn -= 1
    if (this.#goingOn === 0) this.#onQuiet?.()
  }

  #mayStillRun({ atClose }: Trace): boolean {
    return this.#state === 'closing' && atClose === 'gives back'
  }
}

/** The error of a closed instance. */
export function closed(): DriverError {
  return new DriverError('closed', 'this instance of Perilune is closed')
}
