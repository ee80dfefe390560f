// Plain reads. The reads of one tick are batched into one MGET, and the same key is read once. No caller joins a read
// that was already sent, because the caller may know of a later invalidation (docs/decisions/0028).

import type { AnswersDue, DueCall } from '../runtime/calls/answers-due.ts'
import { Places } from '../runtime/calls/places.ts'
import { closed, type Runner } from '../runtime/calls/runner.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { DriverError } from '../runtime/errors/errors.ts'
import type { Due } from '../runtime/time/deadlines.ts'
import { ConnectionReads, KeyRead, late, overloaded } from './connection-reads.ts'

export class Reads {
  readonly #runner: Runner
  /** The key prefix of the cache, whose values have similar sizes. */
  readonly #beginning: string
  /** Each connection has its own room. */
  readonly #connections: Places<ConnectionReads>
  /** By how long they may take, which handles of one cache may differ in. */
  #gathered = new Map<number, Map<string, KeyRead>>()

  constructor(runtime: Runtime, beginning: string) {
    this.#runner = runtime.runner
    this.#beginning = beginning
    this.#connections = new Places(runtime.runner.driver, () => new ConnectionReads(runtime))
  }

  /**
   * The bytes of this key; null when it does not exist. Rejects with DriverError when no valid answer arrives in
   * time.
   */
  get(key: string, withinMs: number): Promise<Buffer | null> {
    return this.#gather(key, withinMs, false)
  }

  /**
   * Like `get`, for a value that may be large: waits until there is room for it. Rejects with DriverError
   * `overloaded` without room in time. If tenants share this process (docs/decisions/0040), it also needs room among
   * all answers with bytes; that wait is bounded by the deadline of calls.
   */
  getValue(key: string, withinMs: number): Promise<Buffer | null> {
    const runner = this.#runner
    if (!runner.isShared) return this.#gather(key, withinMs, true)
    if (runner.closed) return Promise.reject(closed())
    const read = (): Promise<Buffer | null> => this.#gather(key, withinMs, true)
    return new Promise((resolve, reject) => {
      new ReadInTurn(runner, runner.answersDue.of(key), this.#beginning, read, { resolve, reject }).begin()
    })
  }

  /** A value of this size was stored under this key and may be read. */
  stored(key: string, bytes: number): void {
    this.#connections.of(key).stored(bytes)
  }

  #gather(key: string, withinMs: number, mayBeLarge: boolean): Promise<Buffer | null> {
    if (this.#runner.closed) return Promise.reject(closed())
    let gathered = this.#gathered.get(withinMs)
    if (gathered === undefined) {
      gathered = new Map()
      this.#gathered.set(withinMs, gathered)
      process.nextTick(() => this.#send(withinMs))
    }
    const joined = gathered.get(key)
    if (joined !== undefined) return joined.promise
    const read = new KeyRead(key, mayBeLarge)
    gathered.set(key, read)
    return read.promise
  }

  #send(withinMs: number): void {
    const all = [...(this.#gathered.get(withinMs)?.values() ?? [])]
    this.#gathered.delete(withinMs)
    if (this.#runner.closed) return all.forEach(({ reject }) => reject(closed()))
    for (const [connection, reads] of this.#byConnection(all)) connection.send(reads, withinMs)
  }

  #byConnection(all: readonly KeyRead[]): Map<ConnectionReads, KeyRead[]> {
    const connections = new Map<ConnectionReads, KeyRead[]>()
    for (const read of all) {
      const connection = this.#connections.of(read.key)
      const others = connections.get(connection)
      if (others === undefined) connections.set(connection, [read])
      else others.push(read)
    }
    return connections
  }
}

/** An absent value: a small answer. */
const NOTHING = Buffer.alloc(0)

/** A read that waits for room among the pending answers of its connection. */
class ReadInTurn implements DueCall, Due {
  readonly by: number
  readonly key: string
  expectedBytes = 0
  /** The number of answers received when the wait began. */
  readonly #answersBefore: number
  readonly #runner: Runner
  readonly #answersDue: AnswersDue
  readonly #read: () => Promise<Buffer | null>
  readonly #caller: Pick<KeyRead, 'resolve' | 'reject'>

  constructor(
    runner: Runner,
    answersDue: AnswersDue,
    key: string,
    read: () => Promise<Buffer | null>,
    caller: Pick<KeyRead, 'resolve' | 'reject'>,
  ) {
    this.by = performance.now() + runner.deadlineMs
    this.key = key
    this.#answersBefore = answersDue.answers
    this.#runner = runner
    this.#answersDue = answersDue
    this.#read = read
    this.#caller = caller
  }

  begin(): void {
    this.#runner.deadlines.add(this)
    this.#answersDue.enter(this)
  }

  ask(): void {
    this.#runner.deadlines.remove(this)
    const read = this.#read()
    read.then(
      (bytes) => this.#answersDue.over(this, bytes ?? NOTHING),
      () => this.#answersDue.over(this, null),
    )
    read.then(this.#caller.resolve, this.#caller.reject)
  }

  refuse(error: DriverError): void {
    this.#runner.deadlines.remove(this)
    this.#caller.reject(error)
  }

  /** The read was never sent. */
  giveUp(reason?: Error): void {
    const isMoving = this.#answersDue.movesSince(this.#answersBefore)
    this.#answersDue.leave(this)
    this.#caller.reject(reason ?? (isMoving ? overloaded() : late()))
  }
}
