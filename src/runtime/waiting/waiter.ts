// One attempt that waits in line, as a loop of look-or-sleep.ts: a look asks the server, or reads a letter.
//
//   ask ──granted──► the lease
//    ▲ └──queued──► sleep until a letter ──granted for the whole lease──► the lease, unless it expired on the way
//    │                     │
//    └─ offer, `come`, ────┘──time is over, or aborted──► abandon
//       or time to poll
//
// A grant for less than the lease is an offer (docs/decisions/0031): asking accepts it. The id makes an attempt safe to
// repeat: an attempt that holds a lease or waits in line gets the same answer again.

import type { Trace } from '../calls/runner.ts'
import { askingAt, endsAtOf, type Grant, ROUNDING_MS, toGrant } from '../keeper/grant.ts'
import { longestSleepMs } from '../subscriptions/ear.ts'
import type { Letter, Mailbox, Post } from '../subscriptions/mailbox.ts'
import type { Opening } from '../subscriptions/open-within.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { rest } from '../time/in-time.ts'
import { type Attempts, abandon, guarded, type LineStanding } from './attempts.ts'
import { type Look, lookOrSleep, type Waker } from './look-or-sleep.ts'

// With a live subscription, polling is a safety net: soon after the first request, for a grant whose letter was lost;
// later more often, the nearer the attempt is to the front. The first attempt of each process polls for all of them,
// because those before it may belong to suspended processes. Without a subscription (it may be forbidden) the attempt
// depends on polling. The server must know that, or would regard the process as dead.
const SOON_RECHECK_MS = 1000
const NEAR_RECHECK_MS = 2000
const RECHECK_A_PLACE_MS = 50
const FIRST_RECHECK_A_PLACE_MS = 2
const LONGEST_RECHECK_MS = 15_000
const LONGEST_FIRST_RECHECK_MS = 4000
const RECHECK_UNHEARD_MS = 250

/** How often it checks whether to ask; another attempt of its process may change that time. */
const LOOKS = { heardMs: NEAR_RECHECK_MS, unheardMs: RECHECK_UNHEARD_MS }

export interface WaiterTerms {
  readonly mailbox: Mailbox
  readonly opening: Opening<Post>
  /** `performance.now()` at which the waiting ends. */
  readonly endsAt: number
  readonly signal: AbortSignal | undefined
  /** End the pauses when the instance closes. */
  readonly deadlines: Deadlines
  readonly line: string
  /** As of the line. */
  mayBeCleared(since: number): boolean
}

/** Its own waker: it polls and listens as it has announced to the server. */
export class Waiter implements Waker {
  readonly #attempts: Attempts
  readonly #id: string
  readonly #terms: WaiterTerms
  /** The last answer without a grant, by both clocks: times in letters are relative to it. */
  #asked = { at: 0, nowMs: 0 }
  #asks = 0
  /** Null while this process cannot listen; the next request informs the server of a change. */
  #post: Post | null = null
  /** It was not granted at once. */
  #stands = false
  #place = 0
  /** The start of the pause before its next request. */
  #since = 0
  #askAt = -Infinity
  /** Others expect a request by then, as a letter has announced: they regard a silent attempt as suspended. */
  #dueAt = -Infinity
  /** A letter that arrived while it slept. */
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

  /**
   * The grant in a letter. Null without one, when it expired on the way, or when it is only an offer; then it is time
   * to ask.
   */
  #read(letter: Letter | 'missed'): Grant | null {
    if (letter !== 'missed' && letter.word === 'first') {
      this.#place = 0
      // Never later than before: others announce the next request whenever they look.
      this.#plan(letter.receivedAt, letter.numbers[0] ?? 0, this.#askAt)
      this.#dueAt = letter.receivedAt + this.#pauseMs(letter.numbers[0] ?? 0)
      return null
    }
    const grant = letter === 'missed' || letter.word === 'come' ? null : this.#grantOf(letter)
    if (grant !== null && this.#isHeld(grant)) return grant
    this.#askAt = -Infinity
    return null
  }

  async #ask(): Promise<Look<Grant | null>> {
    const isDue = performance.now() >= this.#dueAt
    const standing = await this.#askOnce()
    if (standing.status === 'granted') {
      const grant = toGrant(standing, this.#asked.at)
      if (this.#isHeld(grant)) return found(grant)
      // The grant expired on the way: the server knows that by now, or will at the next attempt.
      return performance.now() < this.#terms.endsAt ? this.#ask() : nothing(Infinity)
    }
    this.#stand()
    const isQueued = standing.status === 'queued'
    this.#place = isQueued ? standing.position : 0
    const recheckMs = isQueued ? standing.recheckMs : standing.retryAfterMs
    this.#plan(performance.now(), recheckMs, isDue ? Infinity : this.#dueAt)
    return nothing(this.#askAt)
  }

  #isHeld({ endsAt }: Grant): boolean {
    return endsAt > performance.now() && !this.#terms.mayBeCleared(this.#asked.at)
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
    // The caller has left: the attempt is in no line.
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

  /** Plans the next request, at `atLatest` in any case. */
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

  /**
   * Null for an offer, and for a grant older than the last answer. The end of its lease is counted from the last
   * answer, because the letter's travel time is unknown.
   */
  #grantOf({ numbers, receivedAt }: Letter): Grant | null {
    const [token = 0, expiresAtMs = 0, nowMs = 0] = numbers
    if (expiresAtMs - nowMs < this.#attempts.leaseMs) return null
    // Since then the server has answered without a grant: it was cleared, or the server has lost it.
    if (nowMs <= this.#asked.nowMs) return null
    const byLastAnswer = endsAtOf(this.#asked.at, expiresAtMs - this.#asked.nowMs)
    const byLetter = endsAtOf(receivedAt, expiresAtMs - nowMs)
    return { token, expiresAtMs, askedAt: this.#asked.at, endsAt: Math.min(byLastAnswer, byLetter) }
  }

  #guarded(grant: Grant): Grant {
    const { mailbox } = this.#terms
    const last = { trace: this.#trace, stands: this.#stands }
    return guarded(grant, this.#attempts, this.#id, mailbox, last)
  }

  #abandon(): void {
    const { mailbox } = this.#terms
    const last = { asking: this.#asking, trace: this.#trace, stands: this.#stands }
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
