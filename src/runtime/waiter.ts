// One who stands in a line: asks, listens, and asks again.
//
//   attempt ──granted──► the lease
//      ▲ └───queued──► wait for a letter ──granted──► the lease, unless it was spent on the way
//      │                     │
//      └── come, or recheck ─┘──time is over, or aborted──► abandon
//
// The id makes an attempt safe to repeat: one that holds already, or stands in line, is told so again.

import { askingAt, endsAtOf, type Grant, ROUNDING_MS, toGrant } from './grant.ts'
import { pause, unlessAborted } from './in-time.ts'
import type { Letter, Post } from './mailbox.ts'

export type Standing =
  | {
      readonly status: 'granted'
      readonly token: number
      readonly expiresAtMs: number
      readonly nowMs: number
    }
  | { readonly status: 'held' | 'full'; readonly retryAfterMs: number }
  | {
      readonly status: 'queued'
      readonly position: number
      readonly recheckMs: number
      readonly nowMs: number
    }

/** How one attempt speaks to the server. */
export interface Attempts {
  /** True when an attempt may go before those in line: it then tries before it stands in line itself. */
  readonly passes: boolean
  /** `waits`: stands in line when nothing is free; `listens`: letters reach this process. */
  attempt(id: string, how: { waits: boolean; listens: boolean }): Promise<Standing>
  /** Leaves the line, or gives back what was granted meanwhile. */
  abandon(id: string, how: { listens: boolean }): Promise<unknown>
}

// With a live subscription this is a safety net; without one (it may be forbidden) the way of waiting.
const RECHECK_MS = 15_000
const RECHECK_UNHEARD_MS = 250

export class Waiter {
  readonly #attempts: Attempts
  readonly #id: string
  readonly #post: Post | null
  readonly #endsAt: number
  readonly #signal: AbortSignal | undefined
  /** The last answer, by both clocks: what letters say is counted from there. */
  #asked = { at: 0, nowMs: 0 }
  #asking: Promise<unknown> = Promise.resolve()

  constructor(
    attempts: Attempts,
    id: string,
    post: Post | null,
    endsAt: number,
    signal: AbortSignal | undefined,
  ) {
    this.#attempts = attempts
    this.#id = id
    this.#post = post
    this.#endsAt = endsAt
    this.#signal = signal
  }

  async wait(): Promise<Grant | null> {
    try {
      const grant = await this.#untilGranted()
      if (grant === null) this.#abandon()
      return grant
    } catch (error) {
      this.#abandon()
      throw error
    }
  }

  async #untilGranted(): Promise<Grant | null> {
    for (;;) {
      const standing = await this.#ask()
      if (standing.status === 'granted') {
        const grant = toGrant(standing, this.#asked.at)
        // Spent on the way: by now the server thinks so too, or will at the next attempt.
        if (grant.endsAt > performance.now()) return grant
        if (performance.now() >= this.#endsAt) return null
        continue
      }
      const recheckMs = standing.status === 'queued' ? standing.recheckMs : standing.retryAfterMs
      const grant = await this.#hear(recheckMs)
      if (grant !== undefined) return grant
    }
  }

  async #ask(): Promise<Standing> {
    this.#signal?.throwIfAborted()
    const at = askingAt()
    const asking = this.#attempts.attempt(this.#id, { waits: true, listens: this.#post !== null })
    this.#asking = asking
    const standing = await unlessAborted(asking, this.#signal)
    if ('nowMs' in standing) this.#asked = { at, nowMs: standing.nowMs }
    return standing
  }

  /** A grant; null when the time is over; undefined when it is time to ask again. */
  async #hear(recheckMs: number): Promise<Grant | null | undefined> {
    let askAt = performance.now() + this.#pauseMs(recheckMs)
    for (;;) {
      const now = performance.now()
      if (now >= this.#endsAt) return null
      if (now >= askAt) return undefined
      const letter = await this.#listen(Math.min(askAt, this.#endsAt) - now)
      if (letter === null) continue
      if (letter === 'missed' || letter.word === 'come') return undefined
      if (letter.word === 'first') {
        askAt = letter.receivedAt + this.#pauseMs(letter.numbers[0] ?? 0)
      } else {
        const grant = this.#read(letter)
        if (grant.endsAt > performance.now()) return grant
        return undefined
      }
    }
  }

  async #listen(ms: number): Promise<Letter | 'missed' | null> {
    if (this.#post !== null) return this.#post.next(Math.ceil(ms), this.#signal)
    await pause(ms, this.#signal)
    return null
  }

  #pauseMs(recheckMs: number): number {
    const longest = this.#post === null ? RECHECK_UNHEARD_MS : RECHECK_MS
    return recheckMs > 0 ? Math.min(recheckMs + ROUNDING_MS, longest) : longest
  }

  /** When the lease of a letter ends: counted from the last answer, for how long it travelled is unknown. */
  #read({ numbers, receivedAt }: Letter): Grant {
    const [token = 0, expiresAtMs = 0, nowMs = 0] = numbers
    const byLastAnswer = endsAtOf(this.#asked.at, expiresAtMs - this.#asked.nowMs)
    const byLetter = endsAtOf(receivedAt, expiresAtMs - nowMs)
    return { token, expiresAtMs, endsAt: Math.min(byLastAnswer, byLetter) }
  }

  #abandon(): void {
    abandon(this.#attempts, this.#id, { asking: this.#asking, listens: this.#post !== null })
  }
}

/**
 * Not awaited: the caller has its answer. After what was asked last, lest that be carried out later. What
 * cannot be told ends with the lease.
 */
export function abandon(
  attempts: Attempts,
  id: string,
  last: { asking: Promise<unknown>; listens: boolean },
): void {
  const tell = (): Promise<unknown> => attempts.abandon(id, { listens: last.listens })
  last.asking.then(tell, tell).catch(() => undefined)
}
