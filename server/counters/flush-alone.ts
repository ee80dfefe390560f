// Flushes counters in a process that does nothing else. It may be killed at any time, and run next to others.

import { setTimeout as sleep } from 'node:timers/promises'
import { AmbiguousError, DriverError, type Flushed, type RolledRows, SinkError } from 'perilune'
import { StartError } from '../process/environment.ts'
import { within } from '../process/within.ts'
import { msOf } from '../process/duration.ts'
import { type OpenCounters, troubleOf } from './open-counters.ts'

export interface Watched {
  /** Prints a line for people. */
  say(line: string): void
  /** Ends the flushing. */
  readonly signal: AbortSignal
}

const RETRY_MS = 500
const GRACE_MS = 10_000

/**
 * Flushes until the signal, and once more after it. Waits for databases that are away. Resolves to whether the last
 * flush succeeded. Rejects with StartError if a table is unsuitable at the start.
 */
export async function flushForEver(all: readonly OpenCounters[], watched: Watched): Promise<boolean> {
  const done = await Promise.all(all.map((one) => new LoneFlush(one, watched).forEver()))
  return done.every(Boolean)
}

/**
 * Flushes the pending increments, and retries for `waitMs` while a database is away. Resolves to whether all of it
 * succeeded.
 */
export async function flushOnce(
  all: readonly OpenCounters[],
  waitMs: number,
  watched: Watched,
): Promise<boolean> {
  const done = await Promise.all(all.map((one) => new LoneFlush(one, watched).once(waitMs)))
  return done.every(Boolean)
}

class LoneFlush {
  readonly #one: OpenCounters
  readonly #watched: Watched
  #trouble = ''

  constructor(one: OpenCounters, watched: Watched) {
    this.#one = one
    this.#watched = watched
  }

  async forEver(): Promise<boolean> {
    const everyMs = msOf(this.#one.entry.flushEvery ?? '1s')
    await this.#untilPrepared()
    while (!this.#ended) {
      const isDone = await this.#flush(this.#watched.signal)
      await this.#pause(isDone ? everyMs : Math.max(everyMs, RETRY_MS))
    }
    let isDone = false
    await within(
      GRACE_MS,
      this.#flush().then((done) => (isDone = done)),
    )
    return isDone
  }

  async once(waitMs: number): Promise<boolean> {
    const by = performance.now() + waitMs
    for (;;) {
      const error = await this.#try(() => this.#flushPrepared())
      if (error === null) return true
      if (this.#ended || !isPassing(error) || performance.now() > by) return false
      await this.#pause(RETRY_MS)
    }
  }

  get #ended(): boolean {
    return this.#watched.signal.aborted
  }

  async #untilPrepared(): Promise<void> {
    while (!this.#ended) {
      const error = await this.#try(() => this.#one.prepare())
      if (error === null) return
      if (!isPassing(error)) throw new StartError(`${this.#one.entry.key}: ${troubleOf(error)}`)
      await this.#pause(RETRY_MS)
    }
  }

  async #flushPrepared(): Promise<void> {
    await this.#one.prepare()
    this.#reportDone(await this.#one.counters.flush({ signal: this.#watched.signal }))
  }

  /** Whether it succeeded. */
  async #flush(signal?: AbortSignal): Promise<boolean> {
    const options = signal === undefined ? {} : { signal }
    const error = await this.#try(async () => this.#reportDone(await this.#one.counters.flush(options)))
    return error === null
  }

  /** The reported error; null if there was none. */
  async #try(work: () => Promise<void>): Promise<unknown> {
    try {
      await work()
      this.#trouble = ''
      return null
    } catch (error) {
      if (!isEnd(error)) this.#complain(troubleOf(error))
      return error
    }
  }

  /** Repeats of the same message are printed once. */
  #complain(trouble: string): void {
    if (trouble !== this.#trouble) this.#watched.say(`${this.#one.entry.key}: ${trouble}`)
    this.#trouble = trouble
  }

  #reportDone(flushed: Flushed | RolledRows): void {
    const line = wordsOf(flushed)
    if (line !== null) this.#watched.say(`${this.#one.entry.key}: ${line}`)
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#watched.signal }).catch(() => undefined)
  }
}

/** Null if there was nothing to do. */
function wordsOf(flushed: Flushed | RolledRows): string | null {
  if ('events' in flushed) {
    const { events } = flushed
    return events === 0 ? null : `counted ${events} ${events === 1 ? 'row' : 'rows'}`
  }
  const { batches, counters } = flushed
  return batches === 0 ? null : `flushed ${counters} in ${batches} ${batches === 1 ? 'batch' : 'batches'}`
}

function isEnd(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

/** Whether a retry may succeed. */
function isPassing(error: unknown): boolean {
  if (error instanceof SinkError) return error.isPassing
  if (error instanceof AmbiguousError) return true
  return error instanceof DriverError && PASSING.has(error.code)
}

const PASSING: ReadonlySet<string> = new Set(['unreachable', 'busy', 'store-read-only', 'overloaded'])
