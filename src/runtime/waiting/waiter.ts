// One attempt that stands in a line: it asks, listens, and asks again.
//
//   ask ──granted──► the lease
//    ▲ └──queued──► wait for a letter ──granted for the whole lease──► the lease, unless it was spent on the way
//    │                     │
//    └─ offered, come, ────┘──time is over, or aborted──► abandon
//       or time to look
//
// What is granted for less than the lease is an offer (docs/decisions/0031): asking takes it. The id makes an attempt safe to
// repeat: one that holds already, or stands in line, gets the same answer again.

import { type Attempts, abandon, guarded, type Standing } from './attempts.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { askingAt, endsAtOf, type Grant, ROUNDING_MS, toGrant } from '../keeper/grant.ts'
import { longestSleepMs } from '../subscriptions/hearing.ts'
import { type Opening, rest, unlessAborted } from '../time/in-time.ts'
import type { Letter, Mailbox, Post } from '../subscriptions/mailbox.ts'
import type { Trace } from '../calls/runner.ts'

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

export class Waiter {
  readonly #attempts: Attempts
  readonly #id: string
  readonly #terms: WaiterTerms
  /** The last answer, by both clocks: what letters say is counted from there. */
  #asked = { at: 0, nowMs: 0 }
  #asks = 0
  /** Null while this process cannot listen: where it can by the time it asks, the server is told so. */
  #post: Post | null = null
  /** It was not granted at once. */
  #stands = false
  #place = 0
  #asking: Promise<unknown> = Promise.resolve()
  readonly #trace: Trace = {}

  constructor(attempts: Attempts, id: string, terms: WaiterTerms) {
    this.#attempts = attempts
    this.#id = id
    this.#terms = terms
  }

  async wait(): Promise<Grant | null> {
    try {
      const grant = await this.#untilGranted()
      if (grant !== null) return this.#guarded(grant)
      this.#abandon()
      return null
    } catch (error) {
      this.#abandon()
      throw error
    } finally {
      const { mailbox, line } = this.#terms
      if (this.#stands) mailbox.standers.leave(line, this.#id)
    }
  }

  async #untilGranted(): Promise<Grant | null> {
    for (;;) {
      const standing = await this.#ask()
      if (standing.status === 'granted') {
        const grant = toGrant(standing, this.#asked.at)
        // Spent on the way: by now the server thinks so too, or will at the next attempt.
        if (grant.endsAt > performance.now()) return grant
        if (performance.now() >= this.#terms.endsAt) return null
        continue
      }
      this.#stand()
      const isQueued = standing.status === 'queued'
      this.#place = isQueued ? standing.position : 0
      const grant = await this.#hear(isQueued ? standing.recheckMs : standing.retryAfterMs)
      if (grant !== undefined) return grant
    }
  }

  /** Letters reach it, or will in a moment. */
  get #listens(): boolean {
    return this.#post !== null && !this.#post.isGone
  }

  #stand(): void {
    if (this.#stands) return
    this.#stands = true
    this.#terms.mailbox.standers.enter(this.#terms.line, this.#id)
  }

  async #ask(): Promise<Standing> {
    const { signal, opening } = this.#terms
    signal?.throwIfAborted()
    this.#post = opening.now
    const at = askingAt()
    const how = { waits: true, listens: this.#listens, confirms: this.#asks > 0, trace: this.#trace }
    delete this.#trace.by
    this.#asks += 1
    const asking = this.#attempts.attempt(this.#id, how)
    this.#asking = asking
    const standing = await unlessAborted(asking, signal)
    if ('nowMs' in standing) {
      this.#asked = { at, nowMs: standing.nowMs }
      this.#terms.mailbox.clock.note(standing.nowMs, at)
    }
    return standing
  }

  /** A grant; null when the time is over; undefined when it is time to ask again. */
  async #hear(recheckMs: number): Promise<Grant | null | undefined> {
    const { endsAt } = this.#terms
    let since = performance.now()
    let askAt = since + this.#pauseMs(recheckMs)
    for (;;) {
      const now = performance.now()
      if (now >= endsAt) return null
      if (now >= askAt) return undefined
      const letter = await this.#listen(Math.min(askAt, endsAt, now + NEAR_RECHECK_MS) - now)
      if (letter === null) {
        // It may be the first of its process by now.
        askAt = Math.min(askAt, since + this.#longestPauseMs())
        continue
      }
      if (letter === 'missed' || letter.word === 'come') return undefined
      if (letter.word !== 'first') return this.#read(letter)
      this.#place = 0
      since = letter.receivedAt
      // Never later than before: others tell it so whenever they look, and take one that does not ask for asleep.
      askAt = Math.min(askAt, since + this.#pauseMs(letter.numbers[0] ?? 0))
    }
  }

  async #listen(ms: number): Promise<Letter | 'missed' | null> {
    const { signal, deadlines } = this.#terms
    if (this.#post !== null) return this.#post.next(Math.ceil(ms), signal)
    await rest(ms, deadlines, signal)
    return null
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

  /** The grant of a letter; undefined when it is only an offer, or was spent on the way: then it is time to ask. */
  #read(letter: Letter): Grant | undefined {
    const [, expiresAtMs = 0, nowMs = 0] = letter.numbers
    if (expiresAtMs - nowMs < this.#attempts.leaseMs) return undefined
    const grant = this.#grantOf(letter)
    return grant.endsAt > performance.now() ? grant : undefined
  }

  /** When the lease of a letter ends: counted from the last answer, for how long it travelled is unknown. */
  #grantOf({ numbers, receivedAt }: Letter): Grant {
    const [token = 0, expiresAtMs = 0, nowMs = 0] = numbers
    const byLastAnswer = endsAtOf(this.#asked.at, expiresAtMs - this.#asked.nowMs)
    const byLetter = endsAtOf(receivedAt, expiresAtMs - nowMs)
    return { token, expiresAtMs, askedAt: this.#asked.at, endsAt: Math.min(byLastAnswer, byLetter) }
  }

  #guarded(grant: Grant): Grant {
    const { mailbox } = this.#terms
    const last = { trace: this.#trace, listens: this.#listens, stands: this.#stands }
    return guarded(grant, this.#attempts, this.#id, mailbox, last)
  }

  #abandon(): void {
    const { mailbox } = this.#terms
    const last = { asking: this.#asking, trace: this.#trace, listens: this.#listens, stands: this.#stands }
    abandon(this.#attempts, this.#id, mailbox, last)
  }
}
