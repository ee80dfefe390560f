// One unit of a structure: the keys that share a hash tag, such as one feed. It knows its keys and runs its operations.

import { type CallId } from '../calls/call-ids.ts'
import { AmbiguousError } from '../errors/errors.ts'
import type { Operation } from '../calls/operation.ts'
import type { Trace } from '../calls/runner.ts'
import type { Runtime } from './runtime.ts'
import { askInTime, checkVersion } from '../calls/server.ts'

type AnyOperation = Operation<never, unknown>

/** The last part of a key that never exists. */
const NEVER = 'never'

export interface UnitIdentity {
  readonly structure: string
  readonly name: string
  /** Which of the name's units, where it has several: `12`. */
  readonly unit?: string
  /** Begins the last part of every key of a second unit in the same slot: `dead-`. */
  readonly beside?: string
  /** The oldest server that can serve the structure. */
  readonly since: string
}

export interface NotifyChannel {
  readonly channel: string
  readonly sharded: boolean
  /** True when the number of receivers that PUBLISH returns shows whether a listener exists. */
  readonly counted: boolean
}

/**
 * Asks the server for the outcome of a call whose answer was lost, by the id of that call, and gives back what the call
 * acquired. Safe to repeat. A call that had not run yet is cancelled.
 */
export type AskAgain = (id: CallId) => Promise<unknown>

export type RunInSlot = <A, R>(
  operation: Operation<A, R>,
  args: (id: CallId) => A,
  again?: AskAgain,
) => Promise<R>

export class Unit {
  readonly runtime: Runtime
  readonly place: UnitIdentity
  /** `shop:{feed:room}`, the beginning of every key; together with `beside` it identifies one unit. */
  readonly prefix: string
  /** The common beginning of this unit's keys; no other unit's keys have it. */
  readonly beginning: string
  /** The channel on which waiters listen for a change. */
  readonly channel: string
  #notifyChannel: NotifyChannel | null = null
  readonly #keys = new Map<AnyOperation, string[]>()

  constructor(runtime: Runtime, place: UnitIdentity) {
    this.runtime = runtime
    this.place = place
    this.prefix = runtime.prefix(place.structure, place.name, place.unit)
    this.beginning = `${this.prefix}:${place.beside ?? ''}`
    this.channel = `${this.beginning}wake`
  }

  /** True for sharded wake-up channels; false also while the server is not known yet. */
  get sharded(): boolean {
    return this.runtime.server.info?.shardedChannels ?? false
  }

  /**
   * The channel on which processes of waiters listen for wake-ups, as far as the server is known. On a single node a
   * process listens on one channel for all units of a structure. On a cluster the channel carries the tag of the unit,
   * so that script and listeners meet on one node. On a cluster without sharded channels the number of receivers shows
   * nothing.
   */
  get notifyChannel(): NotifyChannel {
    if (this.#notifyChannel !== null) return this.#notifyChannel
    const { info } = this.runtime.server
    const cluster = info?.cluster ?? false
    const channel = cluster
      ? `${this.prefix}:wake`
      : `${this.runtime.namespace}:{${this.place.structure}:}:wake`
    const known = { channel, sharded: this.sharded, counted: !cluster || this.sharded }
    if (info !== null) this.#notifyChannel = known
    return known
  }

  /** Another unit in the same slot, whose keys begin with `word`. */
  beside(word: string): Unit {
    return new Unit(this.runtime, { ...this.place, beside: `${this.place.beside ?? ''}${word}-` })
  }

  /** Runs an operation that only reads, or whose effect is the same when it runs twice. */
  run<A, R>(operation: Operation<A, R>, args: A, trace?: Trace): Promise<R> {
    const { server, runner } = this.runtime
    if (server.info !== null) return runner.run(operation, this.keysOf(operation), args, trace)
    return this.#runOnceKnown(operation, args, trace)
  }

  async #runOnceKnown<A, R>(operation: Operation<A, R>, args: A, trace: Trace = {}): Promise<R> {
    const { runner } = this.runtime
    await this.learnFor(trace)
    return runner.run(operation, this.keysOf(operation), this.#learned(args), trace)
  }

  /** The arguments of a call that was made before the kind of channels was known. */
  #learned<A>(args: A): A {
    const { sharded } = this
    return typeof args === 'object' && args !== null && 'sharded' in args ? { ...args, sharded } : args
  }

  /** Resolves once the server's version and kind are known. Throws UnsupportedServerError or DriverError. */
  async learn(by?: number): Promise<void> {
    const { server, runner } = this.runtime
    const leftMs = by === undefined ? runner.deadlineMs : by - performance.now()
    const info = server.info ?? (await askInTime(server, runner, leftMs))
    checkVersion(info, this.place.since, this.place.structure)
  }

  /** Like `learn`, for a call with this trace, which then ends by the same deadline. */
  async learnFor(trace: Trace): Promise<void> {
    if (this.runtime.server.info !== null) return
    trace.by ??= performance.now() + this.runtime.runner.deadlineMs
    await this.learn(trace.by)
  }

  /** Names the node that serves this unit, as far as known. Units of one node fail and recover together. */
  get node(): string {
    return this.runtime.runner.driver.placeOf?.(this.beginning) ?? ''
  }

  /** One script call can serve units with the same name. */
  get slotName(): string {
    return this.runtime.server.info?.cluster ? this.prefix : ''
  }

  /** Runs an operation that must take effect once; its script remembers the call id. */
  runOnce<A, R>(
    operation: Operation<A, R>,
    args: (id: CallId) => A,
    trace?: Trace,
    again?: AskAgain,
  ): Promise<R> {
    return this.inSlot((run) => run(operation, args, again), trace)
  }

  /** Runs operations one after the other in one slot: each replaces the previous one. All settle by `trace.by`. */
  async inSlot<R>(work: (run: RunInSlot) => Promise<R>, trace: Trace = {}): Promise<R> {
    const { server, callIds, runner } = this.runtime
    trace.by ??= performance.now() + runner.deadlineMs
    const isFirst = server.info === null
    if (isFirst) await this.learn(trace.by)
    const slot = callIds.takeSlot(this.channel)
    let ask: (() => Promise<unknown>) | null = null
    let isUnanswered = false
    try {
      return await work((operation, args, again) => {
        const id = callIds.next(slot)
        ask = again === undefined ? null : () => again(id)
        const asked = isFirst ? this.#learned(args(id)) : args(id)
        return runner.run(operation, this.keysOf(operation), asked, trace)
      })
    } catch (error) {
      isUnanswered = error instanceof AmbiguousError
      throw error
    } finally {
      if (isUnanswered && ask !== null) this.#askLater(slot, ask)
      else callIds.giveBack(this.channel, slot)
    }
  }

  /** A call without an answer keeps its slot until the server has reported its outcome. */
  #askLater(slot: number, again: () => Promise<unknown>): void {
    const { callIds, mailbox } = this.runtime
    let ask: typeof again | null = again
    const say = async (): Promise<void> => {
      if (ask === null) return
      await ask()
      ask = null // it may hold much memory
      callIds.giveBack(this.channel, slot)
    }
    this.lastWord(mailbox.newId(), say)
  }

  /** Makes a final call until this server has received it; `say` may be called often. */
  lastWord(id: string, say: () => Promise<unknown>, mayComeLate = false): void {
    const nodeNow = (): string => this.node
    const word = {
      abandon: say,
      get node() {
        return nodeNow()
      },
    }
    this.runtime.mailbox.abandoned.add(id, word, mayComeLate)
  }

  /** The keys of an operation, in its order. On a cluster an extra key may follow, which no script uses. */
  keysOf(operation: AnyOperation): string[] {
    const known = this.#keys.get(operation)
    if (known !== undefined) return known
    const { beginning } = this
    const keys = operation.parts.map((part) => beginning + part)
    if (this.#waitsForMoves(operation)) keys.push(`${this.prefix}:${NEVER}`)
    this.#keys.set(operation, keys)
    return keys
  }

  /**
   * While a slot moves, its former owner takes a key that a script has just emptied for a migrated one, and rejects the
   * script halfway. When one of several keys is missing from the start, the server rejects the whole call before it
   * runs, until the move is over. The extra key is always missing.
   */
  #waitsForMoves({ script, parts }: AnyOperation): boolean {
    return (this.runtime.server.info?.cluster ?? false) && !script.reads && parts.length > 1
  }
}
