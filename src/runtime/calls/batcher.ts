// Batches calls made in the same tick: groups of items wait for the end of the tick, or for the answer of a call under
// way, and are then sent together. A group is never split.
//
// Each group settles by its own deadline, even when the calls before it hang. A group that was not sent by then is
// never sent, unless only this process has delayed it.

import type { Driver } from '../../driver.ts'
import type { Deadlines, Due } from '../time/deadlines.ts'
import { AmbiguousError, DriverError } from '../errors/errors.ts'
import { unanswered } from '../errors/outage.ts'

export interface BatchTerms {
  /** The name of the sent call, for errors. */
  readonly name: string
  readonly items: number
  readonly bytes: number
  /** Batches sent and not answered. Two: the server works on one while the next is built. */
  readonly underWay: number
  /**
   * Groups arrive one at a time: while there are few, they wait for the batch under way, because a call costs more
   * than their wait.
   */
  readonly gathers?: boolean
  /** Continues while the instance closes: what is sent gives something back. */
  readonly givesBack?: boolean
  /** Items that may wait in this process; more are rejected, so that memory stays bounded. */
  readonly waiting: number
}

interface Group<Result> {
  readonly count: number
  readonly bytes: number
  /** The deadline of the group, by `performance.now()`. */
  readonly by: number
  deliver(results: readonly Result[], from: number): void
  reject(error: unknown): void
}

/** A group of one. A class, because two closures per call would show in the profile. */
class Single<Result> implements Group<Result> {
  readonly count = 1
  readonly bytes: number
  readonly by: number
  readonly reject: (error: unknown) => void
  readonly #resolve: (result: Result) => void

  constructor(
    bytes: number,
    by: number,
    resolve: (result: Result) => void,
    reject: (error: unknown) => void,
  ) {
    this.bytes = bytes
    this.by = by
    this.#resolve = resolve
    this.reject = reject
  }

  deliver(results: readonly Result[], from: number): void {
    this.#resolve(results[from] as Result)
  }
}

// Up to this many groups form one batch. More are divided, so that client and server overlap.
const WORTH_SHARING = 16
const WORTH_BESIDE = WORTH_SHARING / 2

/** Sends a batch that must be answered by `by`. */
export type SendBatch<Item, Result> = (items: Item[], by: number) => Promise<Result[]>

/** The time limit of a group, the deadlines that enforce it, and the driver that an error names. */
export interface BatchTime {
  readonly driver: Pick<Driver, 'address'>
  readonly deadlineMs: number
  readonly deadlines: Deadlines
}

/**
 * The call that carries a group ends soon after the group's deadline, and knows the outcome better, unless the group
 * waited long for the call.
 */
const GRACE_MS = 10

export class Batcher<Item, Result> implements Due {
  /** The earliest deadline of its groups. */
  by = 0
  readonly #send: SendBatch<Item, Result>
  readonly #terms: BatchTerms
  readonly #time: BatchTime
  readonly #onIdle: () => void
  /** A group with less time left is not sent: its outcome would be unknown. */
  readonly #leastMs: number
  readonly #sent = new Set<Group<Result>[]>()
  #items: Item[] = []
  #groups: Group<Result>[] = []
  #scheduled = false
  #scheduledAt = 0

  /** `onIdle` is called whenever nothing is waiting or under way. */
  constructor(send: SendBatch<Item, Result>, terms: BatchTerms, time: BatchTime, onIdle: () => void) {
    this.#send = send
    this.#terms = terms
    this.#time = time
    this.#onIdle = onIdle
    this.#leastMs = Math.min(GRACE_MS, time.deadlineMs / 10)
  }

  /** Adds one item; resolves to its result. Rejects as the call that carried it does. `by`: an earlier deadline. */
  addOne(item: Item, bytes: number, by: number = this.#newBy()): Promise<Result> {
    return new Promise((resolve, reject) => {
      // Deadlines rise.
      const last = this.#groups.at(-1)
      const group = new Single<Result>(bytes, Math.max(by, last?.by ?? 0), resolve, reject)
      if (!this.#accepts(group)) return
      this.#items.push(item)
      this.#schedule()
    })
  }

  /** Adds items that must stay together; resolves to their results in order. */
  add(items: readonly Item[], bytes: number): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      const deliver = (results: readonly Result[], from: number): void =>
        resolve(results.slice(from, from + items.length))
      const group = { count: items.length, bytes, by: this.#newBy(), deliver, reject }
      if (!this.#accepts(group)) return
      for (const item of items) this.#items.push(item)
      this.#schedule()
    })
  }

  /** Settles the overdue groups; with a reason, all groups. Sent calls may have taken effect. */
  giveUp(reason?: Error): void {
    const sent = [...this.#sent].flat()
    if (reason !== undefined) {
      for (const group of this.#groups.splice(0)) group.reject(reason)
      this.#items = []
      return this.#doubt(sent, reason)
    }
    const now = performance.now()
    this.#dropLate(now)
    this.#doubt(sent.filter(({ by }) => by + GRACE_MS <= now))
    this.#watch(now)
  }

  /** Deferred: the calls that carry the groups may end in this turn as well, and know more. */
  #doubt(groups: readonly Group<Result>[], cause?: Error): void {
    const doubt = new AmbiguousError(this.#terms.name, { cause })
    setImmediate(() => groups.forEach(({ reject }) => reject(doubt)))
  }

  #newBy(): number {
    return performance.now() + this.#time.deadlineMs
  }

  #accepts(group: Group<Result>): boolean {
    if (this.#items.length + group.count > this.#terms.waiting) {
      group.reject(new DriverError('overloaded', 'too many calls wait for the server'))
      return false
    }
    this.#groups.push(group)
    if (this.#groups.length === 1 && this.#sent.size === 0) this.#watch(group.by - 1)
    return true
  }

  /** Sleeps until the next deadline. The groups of one list are in the order of their deadlines. */
  #watch(now: number): void {
    this.by = Math.min(nextBy(this.#groups, now), nextBy([...this.#sent].flat(), now - GRACE_MS) + GRACE_MS)
    if (this.by < Infinity) this.#time.deadlines.add(this)
  }

  #dropLate(now: number): void {
    while (this.#groups.length > 0) {
      const [group] = this.#groups as [Group<Result>]
      if (group.by > now) return
      this.#groups.shift()
      this.#items.splice(0, group.count)
      group.reject(unanswered(`${this.#terms.name}: `, this.#time.driver))
    }
  }

  #schedule(): void {
    if (this.#scheduled || !this.#maySend()) return
    this.#noteScheduled()
    // Everything read from other sockets in one event loop turn, such as database answers, goes into one batch.
    if (this.#terms.gathers === true) setImmediate(() => this.#flush())
    else process.nextTick(() => this.#flush())
  }

  // One batch per event loop turn. Redis sends the answers to all commands that it reads together only when all are
  // done. Two batches written together would be answered together, without any overlap of client and server.
  #flush(): void {
    this.#scheduled = false
    // After a stall, this process itself delayed these groups; the server could have answered them in time.
    this.#dropLate(this.#scheduledAt + this.#leastMs)
    if (!this.#maySend()) return
    const free = this.#terms.underWay - this.#sent.size
    const waiting = this.#groups.length
    this.#carry(waiting < WORTH_SHARING ? waiting : Math.ceil(waiting / free))
    if (!this.#maySend()) return
    this.#noteScheduled()
    setImmediate(() => this.#flush())
  }

  #noteScheduled(): void {
    this.#scheduled = true
    this.#scheduledAt = performance.now()
  }

  #maySend(): boolean {
    const { underWay, gathers = false } = this.#terms
    const least = gathers && this.#sent.size > 0 ? WORTH_BESIDE : 1
    return this.#groups.length >= least && this.#sent.size < underWay
  }

  /** Sends the next `most` groups, or as many of them as fit. */
  #carry(most: number): void {
    let [items, bytes, count] = [0, 0, 0]
    for (const group of this.#groups) {
      if (count === most) break
      bytes += group.bytes
      if (count > 0 && (items + group.count > this.#terms.items || bytes > this.#terms.bytes)) break
      items += group.count
      count += 1
    }
    const groups = this.#groups.splice(0, count)
    this.#sent.add(groups)
    const { by } = groups[groups.length - 1] as Group<Result>
    this.#send(this.#items.splice(0, items), by).then(
      (results) => this.#delivered(groups, results),
      (error: unknown) => this.#lost(groups, error),
    )
  }

  #delivered(groups: Group<Result>[], results: Result[]): void {
    let from = 0
    for (const group of groups) {
      group.deliver(results, from)
      from += group.count
    }
    this.#settled(groups)
  }

  #lost(groups: Group<Result>[], error: unknown): void {
    for (const group of groups) group.reject(error)
    this.#settled(groups)
  }

  #settled(groups: Group<Result>[]): void {
    this.#sent.delete(groups)
    if (this.#sent.size > 0 || this.#groups.length > 0) return this.#schedule()
    this.#time.deadlines.remove(this)
    this.#onIdle()
  }
}

function nextBy(groups: readonly Group<unknown>[], after: number): number {
  return groups.find(({ by }) => by > after)?.by ?? Infinity
}
