// Runs operations. Every call settles by its deadline: as a value, as a definite error, or as
// AmbiguousError. Every script is safe to repeat, so a call whose answer was lost is simply sent again.
//
//   send by hash ──NOSCRIPT──► send the source ──┐
//        ▲                                       ├──► answer, or a definite error
//        └── pause ◄── connection lost, or the server cannot take it just now;
//                      a reply of a wrong shape, once: the connection is dropped
//
// `maybe` remembers that some attempt may have run without our knowing: from then on only an answer is
// certain, everything else is ambiguous.

import { ConnectionLostError, type Driver, type Reply, type ScriptCall, ServerReplyError } from '../driver.ts'
import { Deadlines, type Due } from './deadlines.ts'
import { AmbiguousError, DriverError, type PeriluneError } from './errors.ts'
import type { Operation } from './operation.ts'
import { isPassing, toPeriluneError } from './script-errors.ts'

const FIRST_PAUSE_MS = 5
const LONGEST_PAUSE_MS = 250

/** What becomes of one call on its way. */
export interface Trace {
  /** True when it was sent again although it may have run: its answer may be that of the second time. */
  repeated?: boolean
  /** When it settles at the latest, by `performance.now()`; default: when the deadline of calls is over. */
  by?: number
  /** It must not run twice, in whatever life of the server: once it may have run it is not sent again, and is ambiguous. */
  runsOnce?: boolean
}

export class Runner {
  readonly driver: Driver
  readonly deadlineMs: number
  readonly deadlines: Deadlines = new Deadlines()
  /** Scripts that answered in a wrong shape twice in a row, over two connections: it is not these that are broken. */
  readonly misread: Set<string> = new Set()
  #closed = false

  constructor(driver: Driver, deadlineMs: number) {
    this.driver = driver
    this.deadlineMs = deadlineMs
  }

  /** True once nothing is run any more. */
  get closed(): boolean {
    return this.#closed
  }

  /** Runs one operation. Rejects with a PeriluneError, at the latest when the deadline is over. */
  run<A, R>(operation: Operation<A, R>, keys: readonly string[], args: A, trace: Trace = {}): Promise<R> {
    if (this.#closed) return Promise.reject(closed())
    const call: ScriptCall = {
      script: operation.script,
      keys,
      args: operation.encode(args),
      send: 'hash',
    }
    const by = trace.by ?? performance.now() + this.deadlineMs
    return new Promise<R>((resolve, reject) => {
      new Run<A, R>(this, operation, call, { by, trace, resolve, reject }).attempt()
    })
  }

  /** Settles what is still under way and refuses further calls. */
  close(): void {
    this.#closed = true
    this.deadlines.giveUpAll(closed())
  }
}

interface Settle<R> {
  readonly by: number
  readonly trace: Trace
  resolve(answer: R): void
  reject(error: unknown): void
}

class Run<A, R> implements Due {
  readonly by: number
  readonly #runner: Runner
  readonly #operation: Operation<A, R>
  readonly #settle: Settle<R>
  #call: ScriptCall
  #pause: NodeJS.Timeout | null = null
  #pauseMs = FIRST_PAUSE_MS
  #underWay = false
  #maybe = false
  #misread = false
  #done = false
  #lastError: Error | null = null

  constructor(runner: Runner, operation: Operation<A, R>, call: ScriptCall, settle: Settle<R>) {
    this.by = settle.by
    this.#runner = runner
    this.#operation = operation
    this.#call = call
    this.#settle = settle
    runner.deadlines.add(this)
  }

  attempt(): void {
    this.#underWay = true
    if (this.#maybe) this.#settle.trace.repeated = true
    this.#runner.driver.run(this.#call).then(
      (reply) => this.#answered(reply),
      (error: unknown) => this.#failed(error),
    )
  }

  /** Rejects now. What may have happened is ambiguous, unless the script only reads. */
  giveUp(reason?: Error): void {
    const cause = reason ?? this.#lastError ?? undefined
    if ((this.#maybe || this.#underWay) && !this.#operation.script.reads) {
      this.#reject(new AmbiguousError(this.#operation.script.name, { cause }))
    } else {
      this.#reject(reason ?? this.#notDone())
    }
  }

  #answered(reply: Reply): void {
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
   * The reply may belong to another call, and the replies behind it too: a connection that does so is dropped, and the call is
   * sent again. What cannot be read the second time either is the script's own answer.
   */
  #cannotRead(error: Error): void {
    const { name, reads } = this.#operation.script
    if (this.#misread) this.#runner.misread.add(name)
    this.#maybe = true
    this.#lastError = error
    if (!this.#runner.misread.has(name)) {
      this.#misread = true
      this.#runner.driver.reconnect?.(this.#call.keys[0] ?? '')
      if (this.#settle.trace.runsOnce !== true) return this.#later()
    }
    if (reads) this.#reject(new DriverError('script-failed', `${name}: ${String(error)}`, { cause: error }))
    else this.#reject(new AmbiguousError(name, { cause: error }, 'unreadable'))
  }

  #failed(error: unknown): void {
    if (this.#done) return
    this.#underWay = false
    this.#lastError = error as Error
    if (error instanceof ConnectionLostError) {
      this.#maybe ||= error.sent
      if (this.#maybe && this.#settle.trace.runsOnce === true) this.giveUp()
      else this.#later()
    } else if (!(error instanceof ServerReplyError)) {
      this.#reject(new DriverError('script-failed', `the driver broke: ${String(error)}`, { cause: error }))
    } else if (error.word === 'NOSCRIPT') {
      this.#call = { ...this.#call, send: 'source' }
      this.attempt()
    } else if (isPassing(error)) {
      this.#later()
    } else {
      this.#refused(error)
    }
  }

  #refused(error: ServerReplyError): void {
    const known = toPeriluneError(error, this.#operation)
    // An earlier attempt may still have run, or may even run later.
    if (this.#maybe && !this.#operation.script.reads) {
      this.#reject(new AmbiguousError(this.#operation.script.name, { cause: known }))
    } else {
      this.#reject(known)
    }
  }

  #later(): void {
    const pause = this.#pauseMs * (0.5 + Math.random())
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#pause = setTimeout(() => this.attempt(), pause)
  }

  #notDone(): PeriluneError {
    const name = this.#operation.script.name
    const cause = this.#lastError ?? undefined
    if (cause instanceof ServerReplyError) {
      if (cause.word === 'READONLY') return toPeriluneError(cause, this.#operation)
      return new DriverError('busy', `${name}: the server could not take the call: ${cause.message}`, {
        cause,
      })
    }
    return new DriverError('unreachable', `${name}: no server answered before the deadline`, { cause })
  }

  #reject(error: unknown): void {
    if (this.#done) return
    this.#finish()
    this.#settle.reject(error)
  }

  #finish(): void {
    this.#done = true
    this.#runner.deadlines.remove(this)
    if (this.#pause !== null) clearTimeout(this.#pause)
  }
}

/** What a closed instance answers. */
export function closed(): DriverError {
  return new DriverError('closed', 'this instance of Perilune is closed')
}
