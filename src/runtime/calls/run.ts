// One call under way.
//
//   wait for room for an answer with bytes
//        ▼
//   send by hash ──NOSCRIPT──► send the source ──┐
//        ▲                                       ├──► answer, or a definite error
//        └── pause ◄── connection lost, or the server temporarily rejects the call;
//                      a reply of a wrong shape, once: the connection is dropped
//
// `maybe` is set when an attempt may have run without an answer. From then on only an answer is certain; any other end
// is ambiguous.

import {
  ConnectionLostError,
  type Driver,
  type Reply,
  type ScriptCall,
  ServerReplyError,
} from '../../driver.ts'
import type { Linked } from '../../linked-list.ts'
import type { AnswersDue, DueCall } from './answers-due.ts'
import { onAbort } from '../time/aborts.ts'
import type { Deadlines, Due } from '../time/deadlines.ts'
import type { Jitter } from '../time/jitter.ts'
import { suspendedSince } from '../time/suspended.ts'
import { startTimer, type Timer } from '../time/timer.ts'
import { AmbiguousError, DriverError, type PeriluneError } from '../errors/errors.ts'
import type { Operation } from './operation.ts'
import type { Places } from './places.ts'
import { isPassing, toDeadlineError, toPeriluneError } from './script-errors.ts'
import { unanswered } from '../errors/outage.ts'
import { summaryOf } from '../errors/thrown.ts'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250
/** The server remembers calls for ten minutes. */
const LONGEST_REPEATED_MS = 540_000

/** How one call runs, and what happened to it. */
export interface Trace {
  /** It was sent more than once, for whatever reason: calls of after its beginning may have run before it. */
  sentAgain?: boolean
  /** True when the call was repeated although it may have run: its answer may be that of the second run. */
  repeated?: boolean
  /** The deadline, by `performance.now()`; default: the deadline of calls. */
  by?: number
  /**
   * Must not run twice, even across restarts of the server: once it may have run it is not repeated, and ends as
   * ambiguous.
   */
  runsOnce?: boolean
  /**
   * The behavior when the instance closes. By default the call is settled at once. `goes on`: its answer is awaited,
   * because what it acquires must be given back. `gives back`: the same, and the call may also begin while the instance
   * closes.
   */
  atClose?: 'goes on' | 'gives back'
  /** Aborts the call while it waits to be sent; then it is never sent. */
  signal?: AbortSignal | undefined
}

/** State that all calls of an instance share. */
export interface Runs {
  readonly driver: Driver
  readonly deadlines: Deadlines
  /** For calls that continue while the instance closes. */
  readonly lastDeadlines: Deadlines
  /**
   * Scripts whose answers had a wrong shape twice in a row, on two connections: so the connections are not at fault.
   */
  readonly misread: Set<string>
  /** Per connection. */
  readonly answersDue: Places<AnswersDue>
  /** Of the pauses before calls are sent again. */
  readonly jitter: Jitter
  /** A call begins that continues while the instance closes. */
  noteBegun(): void
  /** Such a call has ended. */
  noteEnded(): void
}

/** How a call settles. */
export interface SettleCall<R> {
  readonly by: number
  readonly trace: Trace
  resolve(answer: R): void
  reject(error: unknown): void
}

export class Run<A, R> implements Due, DueCall {
  readonly by: number
  previous: Linked | undefined = undefined
  next: Linked | undefined = undefined
  expectedBytes = 0
  readonly #runs: Runs
  /** Continues while the instance closes. */
  readonly #goesOn: boolean
  readonly #operation: Operation<A, R>
  readonly #settle: SettleCall<R>
  readonly #beganAt = performance.now()
  #call: ScriptCall
  #pause: Timer | null = null
  #pauseMs = FIRST_PAUSE_MS
  /** Set while the call has room for its answer, or waits for it. */
  #answersDue: AnswersDue | null = null
  #waitsForRoom = false
  /** The number of answers when it began to wait. */
  #answersBefore = 0
  #underWay = false
  #wasAsked = false
  #maybe = false
  #misread = false
  #done = false
  #lastError: Error | null = null
  #forgetSignal: (() => void) | null = null

  constructor(runs: Runs, operation: Operation<A, R>, call: ScriptCall, settle: SettleCall<R>) {
    this.by = settle.by
    this.#runs = runs
    this.#goesOn = settle.trace.atClose !== undefined
    this.#operation = operation
    this.#call = call
    this.#settle = settle
    this.#deadlines.add(this)
    if (this.#goesOn) runs.noteBegun()
  }

  get key(): string {
    return this.#call.keys[0] ?? ''
  }

  get #deadlines(): Deadlines {
    return this.#goesOn ? this.#runs.lastDeadlines : this.#runs.deadlines
  }

  attempt(): void {
    if (this.#done) return
    const { signal } = this.#settle.trace
    if (signal?.aborted && !this.#maybe) return this.#reject(signal.reason)
    // After a standstill of the process: the server may not remember it any more.
    if (this.#maybe && this.#ageMs > LONGEST_REPEATED_MS) return this.giveUp()
    if (!this.#call.script.bytes) return this.ask()
    this.#waitsForRoom = true
    this.#answersDue = this.#runs.answersDue.of(this.key)
    this.#answersBefore = this.#answersDue.answers
    this.#answersDue.enter(this)
    if (this.#waitsForRoom) this.#forgetSignal ??= onAbort(signal, () => this.#aborted(signal?.reason))
  }

  /** Sends the call: there is room for its answer. */
  ask(): void {
    this.#waitsForRoom = false
    this.#underWay = true
    const { trace } = this.#settle
    if (this.#maybe) trace.repeated = true
    if (this.#wasAsked) trace.sentAgain = true
    this.#wasAsked = true
    this.#runs.driver.run(this.#call).then(
      (reply) => this.#answered(reply),
      (error: unknown) => this.#failed(error),
    )
  }

  /** Too many calls wait for room. A call that may have run already is retried a little later. */
  refuse(error: DriverError): void {
    this.#waitsForRoom = false
    if (this.#maybe) this.#failed(new ConnectionLostError(error.message, false))
    else this.#reject(error)
  }

  /** A sent call continues: its caller gives back what it acquires. */
  #aborted(reason: unknown): void {
    if (!this.#underWay && !this.#maybe) this.#reject(reason)
  }

  /** Rejects now. Ambiguous if the call may have run, unless the script only reads. */
  giveUp(reason?: Error): void {
    const cause = reason ?? this.#lastError ?? undefined
    if ((this.#maybe || this.#underWay) && !this.#operation.script.reads) {
      this.#reject(new AmbiguousError(this.#operation.script.name, { cause }))
    } else {
      this.#reject(reason ?? this.#notDone())
    }
  }

  #answered(reply: Reply): void {
    this.#answersDue?.over(this, reply)
    if (this.#done) return
    let answer: R
    try {
      answer = this.#operation.decode(reply)
    } catch (error) {
      this.#underWay = false
      return this.#cannotRead(error as Error)
    }
    this.#finish()
    this.#settle.resolve(answer)
  }

  /**
   * The reply may belong to another call, and so may the replies after it: the connection is dropped, and the call is
   * retried. A second unreadable answer is the script's own fault.
   */
  #cannotRead(error: Error): void {
    const { name, reads } = this.#operation.script
    if (this.#misread) this.#runs.misread.add(name)
    this.#maybe = true
    this.#lastError = error
    if (!this.#runs.misread.has(name)) {
      this.#misread = true
      this.#runs.driver.reconnect?.(this.#call.keys[0] ?? '')
      if (this.#settle.trace.runsOnce !== true) return this.#later()
    }
    if (reads)
      this.#reject(new DriverError('script-failed', `${name}: ${summaryOf(error)}`, { cause: error }))
    else this.#reject(new AmbiguousError(name, { cause: error }, 'unreadable'))
  }

  #failed(error: unknown): void {
    if (this.#underWay) this.#answersDue?.over(this, null)
    if (this.#done) return
    this.#underWay = false
    this.#lastError = error as Error
    if (error instanceof ConnectionLostError) {
      this.#maybe ||= error.sent
      if (this.#maybe && this.#settle.trace.runsOnce === true) this.giveUp()
      else this.#later()
    } else if (!(error instanceof ServerReplyError)) {
      this.#reject(
        new DriverError('script-failed', `the driver broke: ${summaryOf(error)}`, { cause: error }),
      )
    } else if (error.word === 'NOSCRIPT' && this.#call.send === 'hash') {
      this.#call = { ...this.#call, send: 'source' }
      this.attempt()
    } else if (error.word === 'NOSCRIPT' || isPassing(error)) {
      this.#later()
    } else {
      this.#refused(error)
    }
  }

  #refused(error: ServerReplyError): void {
    const known = toPeriluneError(error, this.#operation)
    // An earlier attempt may have run, or may still run later.
    if (this.#maybe && !this.#operation.script.reads) {
      this.#reject(new AmbiguousError(this.#operation.script.name, { cause: known }))
    } else {
      this.#reject(known)
    }
  }

  get #ageMs(): number {
    return performance.now() - this.#beganAt + suspendedSince(this.#beganAt)
  }

  #later(): void {
    const pause = this.#pauseMs * this.#runs.jitter.factor
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#pause = startTimer(() => this.attempt(), pause)
  }

  #notDone(): PeriluneError {
    const name = this.#operation.script.name
    const cause = this.#lastError ?? undefined
    if (cause instanceof ServerReplyError) return toDeadlineError(cause, this.#operation)
    if (this.#waitsForRoom && cause === undefined && this.#answersDue?.movesSince(this.#answersBefore)) {
      return new DriverError(
        'overloaded',
        `${name}: the deadline passed before there was room for its answer`,
      )
    }
    return unanswered(`${name}: `, this.#runs.driver, cause)
  }

  #reject(error: unknown): void {
    if (this.#done) return
    this.#finish()
    this.#settle.reject(error)
  }

  #finish(): void {
    this.#done = true
    this.#deadlines.remove(this)
    if (this.#goesOn) this.#runs.noteEnded()
    this.#pause?.cancel()
    if (this.#waitsForRoom) this.#answersDue?.leave(this)
    this.#forgetSignal?.()
  }
}
