// Limits the outstanding bytes of answers on one connection. A call whose answer may be large is sent only when there
// is room for that answer, because everything that is sent for comes over the connection, even when its caller has left
// (docs/decisions/0040).
//
//   WAITING ──there is room, and it is the share's turn──► DUE ──answered, or lost──► OVER
//      └──its caller has left──► OVER, and never sent
//
// The size of an answer is unknown until it arrives, so it is estimated (asked.ts). A share is one unit, or a tenant
// with all of its units. A share has a few calls under way for which small answers are expected, and more with each
// small answer; those of all shares together are limited too. Large answers are limited by their bytes. Shares take
// turns.

import type { Reply } from '../../driver.ts'
import { CallsOfKey, Window } from './asked.ts'
import { DriverError } from '../errors/errors.ts'
import { Turns } from '../iteration/turns.ts'

/** Bytes of outstanding large answers; below this limit one more call is sent. */
const MOST_BYTES = 2 * 1024 * 1024
/** The maximum number of outstanding small answers. */
const MOST_SMALL = 128
const MOST_WAITING = 100_000
/** The maximum number of idle keys to remember. */
const MOST_KNOWN = 1000

/** Fair use of a connection: one share must not block the others. */
export interface Shares {
  /** The share of a call, by its first key. */
  of(key: string): string
  /** Calls of one share that may wait; more are rejected. */
  readonly mostWaiting: number
  /** Whether a consumer is ready for another large answer of this share. */
  hasRoom(share: string): boolean
  /** Registers a listener that is called whenever `hasRoom` may have become true. */
  onRoom(listener: () => void): void
  /** An answer of this many bytes has arrived. */
  came(bytes: number): void
}

const EACH_KEY: Shares = {
  of: (key) => key,
  mostWaiting: Infinity,
  hasRoom: () => true,
  onRoom: () => undefined,
  came: () => undefined,
}

/** A call whose answer holds bytes. */
export interface DueCall {
  /** Its first key, which is the same for all calls of one operation on one unit. */
  readonly key: string
  /** The estimated size of its answer, stored here by AnswersDue. */
  expectedBytes: number
  /** Sends the call: its turn has come. */
  ask(): void
  /** Rejects the call: it will never be sent. */
  refuse(error: DriverError): void
}

/** Shared by the many keys that never have a waiting call; never changed. */
const NONE: Set<DueCall> = new Set()

export class AnswersDue {
  readonly #byKey = new Map<string, CallsOfKey<DueCall>>()
  /** Of shares with several keys. */
  readonly #windows = new Map<string, Window>()
  readonly #small: Turns<CallsOfKey<DueCall>>
  readonly #large: Turns<CallsOfKey<DueCall>>
  readonly #shares: Shares
  #waiting = 0
  /** Keyed by share. */
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

  /** Sends the call now or later, or rejects it. */
  enter(asking: DueCall): void {
    const asked = this.#byKey.get(asking.key) ?? this.#begin(asking.key)
    if (asked.waiting.size === 0 && this.#hasRoom(asked)) return this.#ask(asked, asking)
    if (this.#isFull(asked.share)) {
      this.#forgetIdle(asked)
      return asking.refuse(new DriverError('overloaded', 'too many calls wait for the server'))
    }
    this.#countWaiting(asked.share, 1)
    if (asked.waiting === NONE) asked.waiting = new Set()
    asked.waiting.add(asking)
    this.#queue(asked)
  }

  /** The number of answers so far. */
  get answers(): number {
    return this.#answers
  }

  /**
   * True when waiting calls are not waiting for the server: an answer has arrived since `answers` were counted, or none
   * is outstanding.
   */
  movesSince(answers: number): boolean {
    return this.#answers > answers || (this.#smallDue === 0 && this.#bytesDue === 0)
  }

  /** The caller has left. No effect on a call that was sent. */
  leave(asking: DueCall): void {
    const asked = this.#byKey.get(asking.key)
    if (asked === undefined || !asked.waiting.delete(asking)) return
    this.#countWaiting(asked.share, -1)
    if (asked.waiting.size === 0) this.#unqueue(asked)
    this.#forgetIdle(asked)
  }

  /** The answer has arrived; `null`: it will not come. */
  over(asking: DueCall, answer: Reply | null): void {
    const asked = this.#byKey.get(asking.key)
    if (asked === undefined) return
    asked.due -= 1
    if (asking.expectedBytes > 0) {
      this.#bytesDue -= asking.expectedBytes
    } else {
      this.#smallDue -= 1
      asked.window.due -= 1
    }
    this.#learn(asked, answer)
    if (this.#waiting > 0) {
      if (asked.waiting.size > 0) this.#queue(asked)
      this.#askNext()
    }
    this.#forgetIdle(asked)
  }

  #begin(key: string): CallsOfKey<DueCall> {
    const asked = new CallsOfKey(key, this.#shares.of, this.#windowOf(key), NONE)
    this.#byKey.set(key, asked)
    asked.window.keys += 1
    return asked
  }

  #windowOf(key: string): Window {
    if (this.#shares === EACH_KEY) return new Window()
    const share = this.#shares.of(key)
    let window = this.#windows.get(share)
    if (window === undefined) this.#windows.set(share, (window = new Window()))
    return window
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

  #learn(asked: CallsOfKey<DueCall>, answer: Reply | null): void {
    if (answer === null) return
    const bytes = bytesOf(answer)
    this.#answers += 1
    asked.learn(bytes)
    this.#shares.came(bytes)
  }

  #hasRoom(asked: CallsOfKey<DueCall>): boolean {
    if (asked.bytes === 0) {
      // If calls wait although there is room, they wait for room of their own share.
      const isNext = this.#small.isEmpty || !this.#small.has(asked.share)
      return this.#smallDue < MOST_SMALL && asked.window.hasRoom && isNext
    }
    // Other calls may wait for room of their own share.
    return this.#bytesDue < MOST_BYTES && !this.#large.has(asked.share) && this.#shares.hasRoom(asked.share)
  }

  #askNext(): void {
    do this.#askSmall()
    while (this.#askLarge())
  }

  #askSmall(): void {
    while (this.#smallDue < MOST_SMALL) {
      const asked = this.#small.next((_share, { window }) => window.hasRoom)
      if (asked === undefined) return
      // The first answers of other keys may have changed the estimate for this key.
      if (asked.bytes > 0) this.#queue(asked)
      else this.#askFirst(asked)
    }
  }

  /** True when some turned out to be small. */
  #askLarge(): boolean {
    let hasSmall = false
    while (this.#bytesDue < MOST_BYTES) {
      const asked = this.#large.next((share) => this.#shares.hasRoom(share))
      if (asked === undefined) break
      if (asked.bytes > 0) {
        this.#askFirst(asked)
      } else {
        this.#queue(asked)
        hasSmall = true
      }
    }
    return hasSmall
  }

  #askFirst(asked: CallsOfKey<DueCall>): void {
    const [first] = asked.waiting
    if (first === undefined) return
    asked.waiting.delete(first)
    this.#countWaiting(asked.share, -1)
    this.#ask(asked, first)
    if (asked.waiting.size === 0) this.#unqueue(asked)
  }

  #ask(asked: CallsOfKey<DueCall>, asking: DueCall): void {
    const { bytes, window } = asked
    asked.due += 1
    asking.expectedBytes = bytes
    if (bytes > 0) {
      this.#bytesDue += bytes
    } else {
      this.#smallDue += 1
      window.due += 1
    }
    asking.ask()
  }

  #queue(asked: CallsOfKey<DueCall>): void {
    const [own, other] = asked.bytes > 0 ? [this.#large, this.#small] : [this.#small, this.#large]
    other.remove(asked)
    own.add(asked)
  }

  #unqueue(asked: CallsOfKey<DueCall>): void {
    this.#small.remove(asked)
    this.#large.remove(asked)
  }

  #forgetIdle(asked: CallsOfKey<DueCall>): void {
    if (this.#byKey.size <= MOST_KNOWN || !asked.idle) return
    if (asked.bytes === 0) this.#forget(asked)
    else this.#forgetOneIdle()
  }

  /** The key that was first used longest ago. */
  #forgetOneIdle(): void {
    for (const asked of this.#byKey.values()) {
      if (asked.idle) return this.#forget(asked)
    }
  }

  #forget(asked: CallsOfKey<DueCall>): void {
    this.#byKey.delete(asked.key)
    asked.window.keys -= 1
    if (asked.window.keys === 0 && this.#shares !== EACH_KEY) this.#windows.delete(asked.share)
  }
}

/** The size of an answer that may be large: texts of a script that returns bytes are Buffers. */
function bytesOf(reply: Reply): number {
  if (!Array.isArray(reply)) return Buffer.isBuffer(reply) ? reply.length : 0
  let bytes = 0
  for (const part of reply) if (typeof part !== 'number') bytes += bytesOf(part)
  return bytes
}
