// Subscribes to the events of a queue. The queue publishes only while a listener is registered. Listeners renew their
// registration every third of its time. Messages are numbered, which reveals a missed one: by the next message, or by
// the number that the queue reports at the next renewal.

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
/** The most events that wait for a slow loop, in addition to those that it has taken. */
const MOST_WAITING = 10_000

/**
 * Yields the events from now on of one source or of all partitions, in the order of each. Throws the signal's reason,
 * and what the first calls throw.
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

/** Settles when all have settled, so that none opens after it is closed. Throws what one of them throws. */
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
  /** The number of the newest message; null until it is known where to begin. */
  #heard: number | null = null
  /** The number of the newest message that arrived before `#heard` was known. */
  #early = 0
  /** The number that the queue reported last. */
  #reported = 0
  /** When the registration of this listener ends, by the server's clock. */
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

  /** Throws DriverError when the server has not confirmed by the deadline; a later subscription is closed. */
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

  /** The events since the last call. Throws DriverError once the library is closed. */
  take(): readonly QueueEvent[] {
    if (this.#failure !== null) throw this.#failure
    const events = this.#waiting
    if (events.length > 0) this.#waiting = []
    return events
  }

  /** Ends the stream: the loop throws the error when it asks for more. */
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

  /** If the call fails, the registration expires. Runs once more if the ear was closed while it was opening. */
  async #end(): Promise<void> {
    // Not awaited: a half-open connection never confirms.
    this.#subscription?.close().catch(() => undefined)
    await this.#say(0).catch(() => undefined)
  }

  get #isClosed(): boolean {
    return this.#closing !== null
  }

  /** A channel for this database alone, because Redis delivers messages across databases. */
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
    if (status === 'full')
      throw new DriverError('overloaded', 'the queue already has the maximum of 1000 listeners')
    const isFirst = this.#heard === null
    // Messages up to the number of the last renewal must be here by now. While the registration was over, nothing was
    // published.
    const isMissing = !isFirst && ((this.#heard ?? 0) < this.#reported || number < before)
    if (isMissing || (!isFirst && nowMs >= this.#listensUntilMs)) this.#miss(number)
    // Messages may arrive before the answer to the registration.
    this.#heard ??= Math.max(number, this.#early)
    this.#reported = number
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

  /** The connection was lost, and the server may have lost the registration: reports a gap, and renews at once. */
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
    // Until it is known where to begin, every message is new.
    if (this.#heard === null) this.#early = number
    else {
      if (number <= this.#heard && number > this.#heard - MOST_WAITING) return
      if (number !== this.#heard + 1) this.#push({ kind: 'gap' })
      this.#heard = number
    }
    for (const event of events) this.#push(event.kind === 'cleared' ? this.#cleared() : event)
  }

  /** The first partition is cleared last, and reports it for all of them. */
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
