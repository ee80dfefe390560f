// One attempt that stands in a line, by the loop of all who wait (look-or-sleep.ts): to look is to ask the server, or to read a letter.
//
//   ask ──granted──► the lease
//    ▲ └──queued──► sleep until a letter ──granted for the whole lease──► the lease, unless it was spent on the way
//    │                     │
//    └─ offered, come, ────┘──time is over, or aborted──► abandon
//       or time to look
//
// What is granted for less than the lease is an offer (docs/decisions/0031): asking takes it. The id makes an attempt safe to
// repeat: one that holds already, or stands in line, gets the same answer again.

import type { Trace } from '../calls/runner.ts'
import { askingAt, endsAtOf, type Grant, ROUNDING_MS, toGrant } from '../keeper/grant.ts'
import { longestSleepMs } from '../subscriptions/ear.ts'
import type { Letter, Mailbox, Post } from '../subscriptions/mailbox.ts'
import type { Opening } from '../subscriptions/open-within.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { rest } from '../time/in-time.ts'
import { type Attempts, abandon, guarded, type LineStanding } from './attempts.ts'
import { type Look, lookOrSleep, type Waker } from './look-or-sleep.ts'

// With a live subscription asking again is a safety net: soon after the first time, for a grant whose letter was lost, then
// the sooner, the nearer it stands to the front. The first of each process looks for all of them, for those before it may be
// of processes that sleep. Without a subscription (it may be forbidden, or forbidden meanwhile) asking is the way of waiting,
// and the server has to know that, or would take the process for one that has died.
const SOON_RECHECK_MS = 1000
const NEAR_RECHECK_MS = 2000
const RECHECK_A_PLACE_MS = 50
const FIRST_RECHECK_A_PLACE_MS = 2
const LONGEST_RECHECK_MS = 15_000
const LONGEST_FIRST_RECHECK_MS = 4000
const RECHECK_UNHEARD_MS = 250

/** It looks whether it is time to ask, which another one of its process may decide meanwhile. */
const LOOKS = { heardMs: NEAR_RECHECK_MS, unheardMs: RECHECK_UNHEARD_MS }

export interface WaiterTerms {
  readonly mailbox: Mailbox
  readonly opening: Opening<Post>
  /** `performance.now()` at which the waiting ends. */
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
  /** By which pauses end when the instance closes. */
  readonly deadlines: Deadlines
  readonly line: string
}

/** It is its own waker: it asks and listens as the server was told that it does. */
export class Waiter implements Waker {
  readonly #attempts: Attempts
  readonly #id: string
  readonly #terms: WaiterTerms
  /** The last answer, by both clocks, that did not grant: what letters say is counted from there. */
  #asked = { at: 0, nowMs: 0 }
  #asks = 0
  /** Null while this process cannot listen: where it can by the time it asks, the server is told so. */
  #post: Post | null = null
  /** It was not granted at once. */
  #stands = false
  #place = 0
  /** From when on its next ask is planned. */
  #since = 0
  #askAt = -Infinity
  /** What came while it slept. */
  #letter: Letter | 'missed' | null = null
  #asking: Promise<unknown> = Promise.resolve()
  readonly #trace: Trace = {}

  constructor(attempts: Attempts, id: string, terms: WaiterTerms) {
    this.#attempts = attempts
    this.#id = id
    this.#terms = terms
  }

  async wait(): Promise<Grant | null> {
    const { mailbox, line, endsAt, deadlines, signal } = this.#terms
    const terms = { opening: { now: this }, endsAt, rechecks: LOOKS, deadlines, signal }
    try {
      const grant = await lookOrSleep(() => this.#look(), terms)
      if (grant !== null) return this.#guarded(grant)
      this.#abandon()
      return null
    } catch (error) {
      this.#abandon()
      throw error
    } finally {
      if (this.#stands) mailbox.standers.leave(line, this.#id)
    }
  }

  get isHeard(): boolean {
    return this.#post?.isHeard === true
  }

  get isGone(): boolean {
    return this.#post === null || this.#post.isGone
  }

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#post !== null) this.#letter = await this.#post.next(ms, signal)
    else await rest(ms, this.#terms.deadlines, signal)
  }

  async #look(): Promise<Look<Grant | null>> {
    const letter = this.#letter
    this.#letter = null
    const grant = letter === null ? null : this.#read(letter)
    if (grant !== null) return found(grant)
    // It may be the first of its process by now.
    if (letter === null && this.#stands)
      this.#askAt = Math.min(this.#askAt, this.#since + this.#longestPauseMs())
    const now = performance.now()
    const isCalled = this.#askAt === -Infinity
    if (isCalled || (now >= this.#askAt && now < this.#terms.endsAt)) return this.#ask()
    return nothing(this.#askAt)
  }

  /** The grant of a letter; null where there is none, or it was spent on the way, or is only an offer: then it is time to ask. */
  #read(letter: Letter | 'missed'): Grant | null {
    if (letter !== 'missed' && letter.word === 'first') {
      this.#place = 0
      // Never later than before: others tell it so whenever they look, and take one that does not ask for asleep.
      this.#plan(letter.receivedAt, letter.numbers[0] ?? 0, this.#askAt)
      return null
    }
    const grant = letter === 'missed' || letter.word === 'come' ? null : this.#grantOf(letter)
    if (grant !== null && grant.endsAt > performance.now()) return grant
    this.#askAt = -Infinity
    return null
  }

  async #ask(): Promise<Look<Grant | null>> {
    const standing = await this.#askOnce()
    if (standing.status === 'granted') {
      const grant = toGrant(standing, this.#asked.at)
      if (grant.endsAt > performance.now()) return found(grant)
      // Spent on the way: by now the server thinks so too, or will at the next attempt.
      return performance.now() < this.#terms.endsAt ? this.#ask() : nothing(Infinity)
    }
    this.#stand()
    const isQueued = standing.status === 'queued'
    this.#place = isQueued ? standing.position : 0
    this.#plan(performance.now(), isQueued ? standing.recheckMs : standing.retryAfterMs, Infinity)
    return nothing(this.#askAt)
  }

  async #askOnce(): Promise<LineStanding> {
    const { signal, opening, mailbox } = this.#terms
    signal?.throwIfAborted()
    this.#post = opening.now
    const at = askingAt()
    const listens = !this.isGone
    const how = { waits: true, listens, confirms: this.#asks > 0, trace: this.#trace }
    delete this.#trace.by
    this.#asks += 1
    const asking = this.#attempts.attempt(this.#id, how)
    this.#asking = asking
    const standing = await asking
    // Nobody waits any more: it stands in no line.
    signal?.throwIfAborted()
    if ('nowMs' in standing) {
      this.#asked = { at, nowMs: standing.nowMs }
      mailbox.clock.note(standing.nowMs, at)
    }
    return standing
  }

  #stand(): void {
    if (this.#stands) return
    this.#stands = true
    this.#terms.mailbox.standers.enter(this.#terms.line, this.#id)
  }

  /** When to ask the next time, at `atLatest` in any case. */
  #plan(since: number, recheckMs: number, atLatest: number): void {
    this.#since = since
    this.#askAt = Math.min(atLatest, since + this.#pauseMs(recheckMs))
  }

  #pauseMs(recheckMs: number): number {
    const longest = this.#longestPauseMs()
    return recheckMs > 0 ? Math.min(recheckMs + ROUNDING_MS, longest) : longest
  }

  #longestPauseMs(): number {
    const post = this.#post
    if (post === null || !post.isHeard) {
      return longestSleepMs(post, { heardMs: SOON_RECHECK_MS, unheardMs: RECHECK_UNHEARD_MS })
    }
    if (this.#asks === 1) return SOON_RECHECK_MS
    const { mailbox, line } = this.#terms
    const isFirst = mailbox.standers.isFirst(line, this.#id)
    if (isFirst)
      return Math.min(NEAR_RECHECK_MS + this.#place * FIRST_RECHECK_A_PLACE_MS, LONGEST_FIRST_RECHECK_MS)
    return Math.min(NEAR_RECHECK_MS + this.#place * RECHECK_A_PLACE_MS, LONGEST_RECHECK_MS)
  }

  /** Null for an offer, and for what is older than the last answer. When its lease ends is counted from the last answer, for how long the letter travelled is unknown. */
  #grantOf({ numbers, receivedAt }: Letter): Grant | null {
    const [token = 0, expiresAtMs = 0, nowMs = 0] = numbers
    if (expiresAtMs - nowMs < this.#attempts.leaseMs) return null
    // The server has said since that it is not granted: it was cleared, or the server has lost it.
    if (nowMs <= this.#asked.nowMs) return null
    const byLastAnswer = endsAtOf(this.#asked.at, expiresAtMs - this.#asked.nowMs)
    const byLetter = endsAtOf(receivedAt, expiresAtMs - nowMs)
    return { token, expiresAtMs, askedAt: this.#asked.at, endsAt: Math.min(byLastAnswer, byLetter) }
  }

  #guarded(grant: Grant): Grant {
    const { mailbox } = this.#terms
    const last = { trace: this.#trace, listens: !this.isGone, stands: this.#stands }
    return guarded(grant, this.#attempts, this.#id, mailbox, last)
  }

  #abandon(): void {
    const { mailbox } = this.#terms
    const last = { asking: this.#asking, trace: this.#trace, listens: !this.isGone, stands: this.#stands }
    abandon(this.#attempts, this.#id, mailbox, last)
  }
}

function found(value: Grant): Look<Grant> {
  return { value, found: true, recheckMs: 0 }
}

/** Looks again at `askAt`. */
function nothing(askAt: number): Look<null> {
  return { value: null, found: false, recheckMs: Math.max(1, Math.ceil(askAt - performance.now())) }
}
