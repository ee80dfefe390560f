// Listening to what happens in a queue. Nothing is published but while somebody listens, who says so again every third of
// the time. Messages are numbered, so that one that is missed is noticed: by the next one, or by the number that the queue
// tells when the listener says again that it listens.

import type { Listener, Subscription } from '../driver.ts'
import { listen } from '../generated/queue.ts'
import { ExponentialBackoff } from '../runtime/time/backoff.ts'
import { DriverError } from '../runtime/errors/errors.ts'
import { abortable, inTime, unlessAborted } from '../runtime/time/in-time.ts'
import { lastWord } from '../runtime/calls/last-word.ts'
import { Leavable } from '../runtime/iteration/leavable.ts'
import { OneByOne } from '../runtime/iteration/one-by-one.ts'
import { isFinal } from '../runtime/errors/outage.ts'
import { closed } from '../runtime/calls/runner.ts'
import { toListenError } from '../runtime/calls/script-errors.ts'
import { Sleeper } from '../runtime/time/sleeper.ts'
import { startTimer, type Timer } from '../runtime/time/timer.ts'
import { type EventFilter, type QueueEvent, readMessage } from './events.ts'
import type { QueueSource } from './source/source.ts'

const LISTEN_MS = 60_000
const FIRST_RETRY_MS = 1000
const LAST_RETRY_MS = 10_000
/** Events that may wait for a slow loop, besides those that it has taken. */
const MOST_WAITING = 10_000

/**
 * Yields what happens from now on, in one source or in all partitions, in the order of each. Throws the signal's reason, and
 * what the first calls throw.
 */
export function listenTo(
  sources: readonly QueueSource[],
  filter: EventFilter,
  signal: AbortSignal | undefined,
  ready: () => Promise<void> = () => Promise.resolve(),
): AsyncGenerator<QueueEvent, void, undefined> {
  const { runner } = (sources[0] as QueueSource).unit.runtime
  const isOver = (): boolean => signal?.aborted === true || runner.closed
  const lists = new Leavable((left) => hearLists(sources, filter, left, ready), signal)
  return new OneByOne(lists, isOver)
}

async function* hearLists(
  sources: readonly QueueSource[],
  filter: EventFilter,
  signal: AbortSignal,
  ready: () => Promise<void>,
): AsyncGenerator<readonly QueueEvent[], void, undefined> {
  await abortable(ready, signal)
  const sleeper = new Sleeper()
  const ears = sources.map((source) => new Ear(source, filter, sleeper))
  const { runtime } = (sources[0] as QueueSource).unit
  const forget = runtime.atClose(() => Promise.all(ears.map((ear) => ear.fail(closed()))))
  try {
    await unlessAborted(openAll(ears), signal)
    for (;;) {
      signal.throwIfAborted()
      let isQuiet = true
      for (const ear of ears) {
        const events = ear.take()
        if (events.length === 0) continue
        isQuiet = false
        signal.throwIfAborted()
        yield events
      }
      if (isQuiet) await sleeper.sleep(LISTEN_MS, signal)
    }
  } finally {
    forget()
    const closing = Promise.all(ears.map((ear) => ear.close()))
    await lastWord(closing, runtime.runner, signal)
  }
}

/** Settles when all have: one that is closed opens no more. Throws what one throws. */
async function openAll(ears: readonly Ear[]): Promise<void> {
  const opened = await Promise.allSettled(ears.map((ear) => ear.open()))
  for (const each of opened) if (each.status === 'rejected') throw each.reason
}

class Ear {
  readonly #source: QueueSource
  readonly #filter: EventFilter
  readonly #name: string
  readonly #sleeper: Sleeper
  #subscription: Subscription | null = null
  #timer: Timer | null = null
  #waiting: QueueEvent[] = []
  /** Number of the newest message, and of what the queue told last; null: not known yet. */
  #heard: number | null = null
  /** Number of the newest message that came before `#heard` is known. */
  #early = 0
  #told = 0
  /** Until when the queue publishes for this listener, by the server's clock. */
  #listensUntilMs = 0
  readonly #backoff = new ExponentialBackoff(FIRST_RETRY_MS, LAST_RETRY_MS)
  #closing: Promise<void> | null = null
  #failure: Error | null = null

  constructor(source: QueueSource, filter: EventFilter, sleeper: Sleeper) {
    this.#source = source
    this.#filter = filter
    this.#sleeper = sleeper
    this.#name = source.unit.runtime.mailbox.newId()
  }

  async open(): Promise<void> {
    const { unit } = this.#source
    await unit.learn()
    if (this.#isClosed) return
    const listener = { onMessage: (message: string) => this.#hear(message), onGap: () => this.#interrupted() }
    this.#subscription = await this.#subscribe(listener)
    if (!this.#isClosed) await this.#listen()
    if (this.#isClosed) return this.#end()
    this.#plan(LISTEN_MS / 3)
  }

  /** Throws DriverError when the server has not confirmed before the deadline; what it confirms later is closed. */
  async #subscribe(listener: Listener): Promise<Subscription> {
    const { runner, subscriptions } = this.#source.unit.runtime
    const { deadlines, deadlineMs } = runner
    const subscribing = subscriptions.subscribe(this.#channel, listener).catch((error: unknown) => {
      throw toListenError(error)
    })
    return inTime(subscribing, performance.now() + deadlineMs, deadlines).catch((error: unknown) => {
      subscribing.then((late) => late.close()).catch(() => undefined)
      throw error
    })
  }

  /** What has come since. Throws DriverError once the library is closed. */
  take(): readonly QueueEvent[] {
    if (this.#failure !== null) throw this.#failure
    const events = this.#waiting
    if (events.length > 0) this.#waiting = []
    return events
  }

  /** Ends it: the loop throws this once it asks for more. */
  fail(error: Error): Promise<void> {
    this.#failure ??= error
    this.#sleeper.wake()
    return this.close()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#timer?.cancel()
    await this.#end()
  }

  /** What cannot be told ends by itself. One that was closed while it was opened ends once more. */
  async #end(): Promise<void> {
    // Not awaited: a connection that is half open never confirms.
    this.#subscription?.close().catch(() => undefined)
    await this.#say(0).catch(() => undefined)
  }

  get #isClosed(): boolean {
    return this.#closing !== null
  }

  /** Of this database alone, once the server is known: what is published is heard in all of them. */
  get #channel(): string {
    const { prefix, runtime } = this.#source.unit
    const database = runtime.server.info?.database ?? 0
    return database === 0 ? `${prefix}:events` : `${prefix}:events:${database}`
  }

  #say(listenMs: number): Promise<{ status: string; nowMs?: number; number?: number }> {
    const { unit, codec } = this.#source
    const where = { channel: this.#channel, sharded: unit.sharded }
    const args = { codec: codec.name, name: this.#name, listenMs, ...where }
    return unit.run(listen, args, listenMs === 0 ? { atClose: 'gives back' } : undefined)
  }

  async #listen(): Promise<void> {
    const before = this.#heard ?? 0
    const { status, nowMs = 0, number = 0 } = await this.#say(LISTEN_MS)
    if (status === 'full') throw new DriverError('overloaded', 'a thousand listen to the queue already')
    const isFirst = this.#heard === null
    // What the queue had told at the last time must be here by now; and nobody was told while it was over.
    const isMissing = !isFirst && ((this.#heard ?? 0) < this.#told || number < before)
    if (isMissing || (!isFirst && nowMs >= this.#listensUntilMs)) this.#miss(number)
    // What the listening brought may overtake the answer to it.
    this.#heard ??= Math.max(number, this.#early)
    this.#told = number
    this.#listensUntilMs = nowMs + LISTEN_MS
  }

  #plan(ms: number): void {
    this.#timer?.cancel()
    if (this.#isClosed) return
    const renew = (): void => {
      this.#listen().then(
        () => this.#renewed(),
        (error: unknown) => this.#again(error),
      )
    }
    this.#timer = startTimer(renew, ms).unref()
  }

  #renewed(): void {
    this.#backoff.reset()
    this.#plan(LISTEN_MS / 3)
  }

  #again(error: unknown): void {
    if (isFinal(error)) void this.fail(error as Error)
    else this.#plan(this.#backoff.next())
  }

  /** The connection was lost, or the queue has forgotten who listens. */
  #interrupted(): void {
    this.#push({ kind: 'gap' })
    this.#plan(0)
  }

  #miss(number: number): void {
    this.#heard = number
    this.#push({ kind: 'gap' })
  }

  #hear(message: string): void {
    const { number, events } = readMessage(message, this.#source)
    // Before it is known where to begin, all are new that come.
    if (this.#heard === null) this.#early = number
    else {
      if (number <= this.#heard && number > this.#heard - MOST_WAITING) return
      if (number !== this.#heard + 1) this.#push({ kind: 'gap' })
      this.#heard = number
    }
    for (const event of events) this.#push(event.kind === 'cleared' ? this.#cleared() : event)
  }

  /** Of all partitions the first is cleared last, and tells it for all. */
  #cleared(): QueueEvent {
    return { kind: (this.#source.partition ?? 0) === 0 ? 'cleared' : 'gap' }
  }

  #push(event: QueueEvent): void {
    if (!this.#filter(event)) return
    if (event.kind === 'gap' || this.#waiting.length >= MOST_WAITING) this.#pushGap()
    else this.#waiting.push(event)
    this.#sleeper.wake()
  }

  #pushGap(): void {
    if (this.#waiting.at(-1)?.kind !== 'gap') this.#waiting.push({ kind: 'gap' })
  }
}
