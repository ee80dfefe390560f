// What answers with bytes one connection may owe: a call whose answer may be large is sent when there is room for that answer,
// for all that is sent comes over the connection, whoever still wants it (docs/decisions/0040).
//
//   WAITING ──there is room, and it is the unit's turn──► DUE ──answered, or lost──► OVER
//      └──nobody wants it any more──► OVER, and never sent
//
// How large an answer will be nobody knows before it is there; the last one of the same unit is the best guess. A unit whose
// answers are small, or of which nothing is known, has a few calls under way, and more with each small answer; those of all
// units are counted. Where answers were large their bytes are counted, and shares take turns: units, or tenants with all of theirs.

import type { Reply } from '../driver.ts'
import { DriverError } from './errors.ts'
import { Turns } from './turns.ts'

/** Above it an answer is a large one. */
const LARGE_BYTES = 65_536
/** Bytes of large answers that are due; one more call is sent while there are fewer. */
const MOST_BYTES = 2 * 1024 * 1024
/** Small answers that are due. */
const MOST_SMALL = 128
/** Calls of one unit that are under way before its first answer, and at most. */
const FIRST_OF_UNIT = 4
const MOST_OF_UNIT = 32
const MOST_WAITING = 100_000
/** Keys that nobody asks just now. */
const MOST_KNOWN = 1000

/** Who shares a connection with others, and must not be kept from it by them. */
export interface Shares {
  /** Whose turn a call takes, from its first key. */
  of(key: string): string
  /** Calls of one share that may wait; more are refused. */
  readonly mostWaiting: number
  /** Whether there is somebody to take another large answer of this share. */
  hasRoom(share: string): boolean
  /** To be called whenever that may have become so. */
  onRoom(listener: () => void): void
}

const EACH_KEY: Shares = {
  of: (key) => key,
  mostWaiting: Infinity,
  hasRoom: () => true,
  onRoom: () => undefined,
}

/** A call with bytes in its answer. */
export interface Asking {
  /** Its first key: calls of one operation on one unit have the same. */
  readonly key: string
  /** What its answer is counted as; kept here for it. */
  expectedBytes: number
  /** Its turn has come: sends it. */
  ask(): void
  /** It will never be sent. */
  refuse(error: DriverError): void
}

/** Nothing is added to it: for the many of which none ever waits. */
const NONE: Set<Asking> = new Set()

/** What is asked by one key. */
class Asked {
  readonly key: string
  waiting: Set<Asking> = NONE
  due = 0
  most = FIRST_OF_UNIT
  /** Of an answer, where they are large; else 0. */
  bytes = 0
  readonly #shares: Shares
  #share: string | undefined

  constructor(key: string, shares: Shares) {
    this.key = key
    this.#shares = shares
  }

  /** Most never wait, and have no need of it. */
  get share(): string {
    return (this.#share ??= this.#shares.of(this.key))
  }

  get idle(): boolean {
    return this.due === 0 && this.waiting.size === 0
  }

  get mayAsk(): boolean {
    return this.bytes > 0 || this.due < this.most
  }

  /** From the size of an answer. One that was large is not forgotten over a few small ones. */
  learn(bytes: number): void {
    const wasLarge = this.bytes > 0
    const guess = Math.max(bytes, wasLarge ? (this.bytes * 3 + bytes) / 4 : 0)
    this.bytes = guess > LARGE_BYTES ? guess : 0
    if (wasLarge || this.bytes > 0) this.most = FIRST_OF_UNIT
    else if (this.most < MOST_OF_UNIT) this.most += 1
  }
}

export class AnswersDue {
  readonly #byKey = new Map<string, Asked>()
  readonly #small: Turns<Asked>
  readonly #large: Turns<Asked>
  readonly #shares: Shares
  #waiting = 0
  /** By share. */
  readonly #waitingOf = new Map<string, number>()
  #smallDue = 0
  #bytesDue = 0
  #answers = 0

  /** By default each key has a share of its own. */
  constructor(shares: Shares = EACH_KEY) {
    this.#shares = shares
    this.#small = new Turns(({ share }) => share)
    this.#large = new Turns(({ share }) => share)
    shares.onRoom(() => this.#askNext())
  }

  /** Asks it now or later, or refuses it. */
  enter(asking: Asking): void {
    let asked = this.#byKey.get(asking.key)
    if (asked === undefined) {
      asked = new Asked(asking.key, this.#shares)
      this.#byKey.set(asking.key, asked)
    }
    if (asked.waiting.size === 0 && asked.mayAsk && this.#hasRoom(asked)) return this.#ask(asked, asking)
    if (this.#isFull(asked.share)) {
      this.#forgetIdle(asked)
      return asking.refuse(new DriverError('overloaded', 'too many calls wait for the server'))
    }
    this.#countWaiting(asked.share, 1)
    if (asked.waiting === NONE) asked.waiting = new Set()
    asked.waiting.add(asking)
    this.#queue(asked)
  }

  /** How many answers have come. */
  get answers(): number {
    return this.#answers
  }

  /** True when it is not the server for which those wait that are not sent: answers came since there were so many, or none is due. */
  movesSince(answers: number): boolean {
    return this.#answers > answers || (this.#smallDue === 0 && this.#bytesDue === 0)
  }

  /** Nobody wants its answer. Without effect where it was sent. */
  leave(asking: Asking): void {
    const asked = this.#byKey.get(asking.key)
    if (asked === undefined || !asked.waiting.delete(asking)) return
    this.#countWaiting(asked.share, -1)
    if (asked.waiting.size === 0) this.#unqueue(asked)
    this.#forgetIdle(asked)
  }

  /** Its answer is here; `null`: it will not come. */
  over(asking: Asking, answer: Reply | null): void {
    const asked = this.#byKey.get(asking.key)
    if (asked === undefined) return
    asked.due -= 1
    if (asking.expectedBytes > 0) this.#bytesDue -= asking.expectedBytes
    else this.#smallDue -= 1
    this.#learn(asked, answer)
    if (this.#waiting > 0) {
      if (asked.waiting.size > 0) this.#queue(asked)
      this.#askNext()
    }
    this.#forgetIdle(asked)
  }

  #isFull(share: string): boolean {
    return this.#waiting >= MOST_WAITING || (this.#waitingOf.get(share) ?? 0) >= this.#shares.mostWaiting
  }

  #countWaiting(share: string, by: 1 | -1): void {
    this.#waiting += by
    const left = (this.#waitingOf.get(share) ?? 0) + by
    if (left === 0) this.#waitingOf.delete(share)
    else this.#waitingOf.set(share, left)
  }

  #learn(asked: Asked, answer: Reply | null): void {
    if (answer === null) return
    this.#answers += 1
    const wasLarge = asked.bytes > 0
    asked.learn(bytesOf(answer))
    if (asked.waiting.size === 0 || wasLarge === asked.bytes > 0) return
    // It waits among the others from now on.
    this.#small.remove(asked)
    this.#large.remove(asked)
  }

  #hasRoom(asked: Asked): boolean {
    if (asked.bytes === 0) return this.#smallDue < MOST_SMALL && this.#small.isEmpty
    // Others may wait for room of their own share.
    return this.#bytesDue < MOST_BYTES && !this.#large.has(asked.share) && this.#shares.hasRoom(asked.share)
  }

  #askNext(): void {
    while (this.#smallDue < MOST_SMALL) {
      const asked = this.#small.next()
      if (asked === undefined) break
      this.#askFirst(asked)
    }
    while (this.#bytesDue < MOST_BYTES) {
      const asked = this.#large.next((share) => this.#shares.hasRoom(share))
      if (asked === undefined) break
      this.#askFirst(asked)
    }
  }

  #askFirst(asked: Asked): void {
    const [first] = asked.waiting
    if (first === undefined) return
    asked.waiting.delete(first)
    this.#countWaiting(asked.share, -1)
    this.#ask(asked, first)
    if (asked.waiting.size === 0 || !asked.mayAsk) this.#unqueue(asked)
  }

  #ask(asked: Asked, asking: Asking): void {
    asked.due += 1
    asking.expectedBytes = asked.bytes
    if (asked.bytes > 0) this.#bytesDue += asked.bytes
    else this.#smallDue += 1
    asking.ask()
  }

  #queue(asked: Asked): void {
    if (!asked.mayAsk) return
    if (asked.bytes > 0) this.#large.add(asked)
    else this.#small.add(asked)
  }

  #unqueue(asked: Asked): void {
    this.#small.remove(asked)
    this.#large.remove(asked)
  }

  #forgetIdle(asked: Asked): void {
    if (this.#byKey.size <= MOST_KNOWN || !asked.idle) return
    if (asked.bytes === 0) this.#byKey.delete(asked.key)
    else this.#forgetOneIdle()
  }

  /** The one that was asked first of all. */
  #forgetOneIdle(): void {
    for (const asked of this.#byKey.values()) {
      if (!asked.idle) continue
      this.#byKey.delete(asked.key)
      return
    }
  }
}

/** Of what may be large: texts of a script that answers bytes are Buffers. */
function bytesOf(reply: Reply): number {
  if (!Array.isArray(reply)) return Buffer.isBuffer(reply) ? reply.length : 0
  let bytes = 0
  for (const part of reply) if (typeof part !== 'number') bytes += bytesOf(part)
  return bytes
}
