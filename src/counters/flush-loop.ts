import { ExponentialBackoff } from '../runtime/time/backoff.ts'
import { unlessAborted } from '../runtime/time/in-time.ts'
import { notifying } from '../runtime/errors/notify.ts'
import { closed } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { Sleeper } from '../runtime/time/sleeper.ts'
import { startTimer } from '../runtime/time/timer.ts'
import { SinkError } from './errors.ts'
import { RefusedError } from './refusals.ts'

const FIRST_RETRY_MS = 100
const LAST_RETRY_MS = 5000

/**
 * Flushes periodically until it is closed. Any number of loops may run, in any number of processes.
 *
 *   SLEEPING ──interval over──► FLUSHING ──done, or failed: the next sleep is longer──► SLEEPING
 *      └─────── close ───────────────┴──► the running flush ends, and a last one follows ──► CLOSED
 *      └─────── the instance closes ─┴──► CLOSED: pending increments stay in Redis for the next flush of any process
 */
export class Flushing implements AsyncDisposable {
  readonly #runtime: Runtime
  readonly #flush: (signal: AbortSignal) => Promise<unknown>
  readonly #everyMs: number
  readonly #onError: (error: unknown) => void
  readonly #aborter = new AbortController()
  readonly #sleeper = new Sleeper()
  readonly #patience = new AbortController()
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, LAST_RETRY_MS)
  /** Shortest sleep after a failed flush. */
  #restMs = 0
  readonly #done: Promise<void>
  #closed: Promise<void> | undefined

  /** @internal */
  constructor(
    runtime: Runtime,
    flush: (signal: AbortSignal) => Promise<unknown>,
    everyMs: number,
    onError: ((error: unknown) => void) | undefined,
  ) {
    this.#runtime = runtime
    this.#flush = flush
    this.#everyMs = everyMs
    this.#onError = notifying('onError', onError)
    this.#done = this.#run()
    const forget = runtime.atClose(() => this.#closeWithInstance())
    void this.#done.then(forget)
  }

  /**
   * Stops the loop after a last flush of the pending increments, unless the database is away. The running flush and the
   * last one share one deadline; what they have not written by then goes to `onError`, and the next flush writes it.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#close())
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#aborter.abort()
    const late = new SinkError('sink-unreachable', 'the last flush did not end before the deadline')
    const timer = startTimer(() => this.#patience.abort(late), this.#runtime.runner.deadlineMs)
    await this.#done
    await this.#flushAll()
    timer.cancel()
  }

  /** After this nothing can be flushed. */
  #closeWithInstance(): Promise<void> {
    this.#aborter.abort()
    this.#patience.abort(closed())
    return this.#done
  }

  async #run(): Promise<void> {
    while (this.#isOpen) {
      await this.#sleeper.sleep(Math.max(this.#everyMs, this.#restMs), this.#aborter.signal)
      if (!this.#isOpen) return
      await this.#flushAll()
    }
  }

  /** False once the library is closed, for then nothing can be flushed. */
  get #isOpen(): boolean {
    return !this.#aborter.signal.aborted && !this.#runtime.runner.closed
  }

  async #flushAll(): Promise<void> {
    const { signal } = this.#patience
    try {
      signal.throwIfAborted()
      await unlessAborted(this.#flush(signal), signal)
      this.#backoff.reset()
      this.#restMs = 0
    } catch (error) {
      // The refused increments are kept, and all others are written.
      const isDone = error instanceof RefusedError
      if (isDone) this.#backoff.reset()
      this.#restMs = isDone ? 0 : this.#backoff.next()
      this.#onError(error)
    }
  }
}
