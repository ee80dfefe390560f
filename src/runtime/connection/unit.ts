// One unit of a structure: what shares a hash tag, such as one feed. It knows its keys and runs its
// operations.

import { type CallId } from '../calls/call-ids.ts'
import { AmbiguousError } from '../errors/errors.ts'
import type { Operation } from '../calls/operation.ts'
import type { Trace } from '../calls/runner.ts'
import type { Runtime } from './runtime.ts'
import { askInTime, checkVersion } from '../calls/server.ts'

type AnyOperation = Operation<never, unknown>

/** The part of a key that is never there. */
const NEVER = 'never'

export interface UnitIdentity {
  readonly structure: string
  readonly name: string
  /** Which of the name's units, where it has several: `12`. */
  readonly unit?: string
  /** Begins the last part of every key, for a unit that lives beside another one: `dead-`. */
  readonly beside?: string
  /** The oldest server that can serve the structure. */
  readonly since: string
}

export interface ToldChannel {
  readonly channel: string
  readonly sharded: boolean
  /** The number of those who heard says who is there. */
  readonly counted: boolean
}

/**
 * Asks the server what a call has brought whose answer nobody got, under the id of that call, and gives it back: safe to repeat.
 * What the call had not done it does no more.
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
  /** `shop:{feed:room}`, the beginning of every key; with `beside` it names one unit. */
  readonly prefix: string
  /** What each of its keys begins with: only theirs. */
  readonly beginning: string
  /** Where those listen who wait for a change. */
  readonly channel: string
  #told: ToldChannel | null = null
  readonly #keys = new Map<AnyOperation, string[]>()

  constructor(runtime: Runtime, place: UnitIdentity) {
    this.runtime = runtime
    this.place = place
    this.prefix = runtime.prefix(place.structure, place.name, place.unit)
    this.beginning = `${this.prefix}:${place.beside ?? ''}`
    this.channel = `${this.beginning}wake`
  }

  /** True once it is known whether wakes go over sharded channels. */
  get sharded(): boolean {
    return this.runtime.server.info?.shardedChannels ?? false
  }

  /**
   * Where the processes of those who wait are told, as the server is known. On one node a process listens on one channel for
   * all units of a structure. On a cluster the channel carries the tag of the unit, so that script and listeners meet on one
   * node; without sharded channels the number of those who heard tells nothing there.
   */
  get told(): ToldChannel {
    if (this.#told !== null) return this.#told
    const { info } = this.runtime.server
    const cluster = info?.cluster ?? false
    const channel = cluster
      ? `${this.prefix}:wake`
      : `${this.runtime.namespace}:{${this.place.structure}:}:wake`
    const told = { channel, sharded: this.sharded, counted: !cluster || this.sharded }
    if (info !== null) this.#told = told
    return told
  }

  /** The unit beside this one, in the same slot. */
  beside(word: string): Unit {
    return new Unit(this.runtime, { ...this.place, beside: `${this.place.beside ?? ''}${word}-` })
  }

  /** Runs an operation that only reads, or that has the same effect when it runs twice. */
  run<A, R>(operation: Operation<A, R>, args: A, trace?: Trace): Promise<R> {
    const { server, runner } = this.runtime
    if (server.info !== null) return runner.run(operation, this.keysOf(operation), args, trace)
    return this.#runOnceKnown(operation, args, trace)
  }

  async #runOnceKnown<A, R>(operation: Operation<A, R>, args: A, trace: Trace = {}): Promise<R> {
    const { runner } = this.runtime
    trace.by ??= performance.now() + runner.deadlineMs
    await this.learn(trace.by)
    return runner.run(operation, this.keysOf(operation), args, trace)
  }

  /** Resolves once the server is known. Throws UnsupportedServerError or DriverError. */
  async learn(by?: number): Promise<void> {
    const { server, runner } = this.runtime
    const leftMs = by === undefined ? runner.deadlineMs : by - performance.now()
    const info = server.info ?? (await askInTime(server, runner, leftMs))
    checkVersion(info, this.place.since, this.place.structure)
  }

  /** Names the node that it is on, as far as is known: units of one node are away together. */
  get node(): string {
    return this.runtime.runner.driver.placeOf?.(this.beginning) ?? ''
  }

  /** Units with the same name can be served by one script call. */
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

  /** Runs operations one after the other in one slot: each replaces the one before it. All settle `trace.by` then. */
  async inSlot<R>(work: (run: RunInSlot) => Promise<R>, trace: Trace = {}): Promise<R> {
    const { server, callIds, runner } = this.runtime
    trace.by ??= performance.now() + runner.deadlineMs
    if (server.info === null) await this.learn(trace.by)
    const slot = callIds.takeSlot(this.channel)
    let ask: (() => Promise<unknown>) | null = null
    let isUnanswered = false
    try {
      return await work((operation, args, again) => {
        const id = callIds.next(slot)
        ask = again === undefined ? null : () => again(id)
        return runner.run(operation, this.keysOf(operation), args(id), trace)
      })
    } catch (error) {
      isUnanswered = error instanceof AmbiguousError
      throw error
    } finally {
      if (isUnanswered && ask !== null) this.#askLater(slot, ask)
      else callIds.giveBack(this.channel, slot)
    }
  }

  /** A call without an answer keeps its slot until the server has said what it brought. */
  #askLater(slot: number, again: () => Promise<unknown>): void {
    const { callIds, mailbox } = this.runtime
    let ask: typeof again | null = again
    const say = async (): Promise<void> => {
      if (ask === null) return
      await ask()
      ask = null // it may hold much
      callIds.giveBack(this.channel, slot)
    }
    mailbox.abandoned.add(mailbox.newId(), { say, node: () => this.node, mayComeLate: false })
  }

  /** The keys of an operation, in its order; on a cluster perhaps one more, which no script knows. */
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
   * While a slot moves, a server that owns it no more takes a key that a script has emptied for one that has moved, and refuses
   * the script in its middle. Where one of several keys is not there it refuses the whole call before, until the move is over.
   */
  #waitsForMoves({ script, parts }: AnyOperation): boolean {
    return (this.runtime.server.info?.cluster ?? false) && !script.reads && parts.length > 1
  }
}
