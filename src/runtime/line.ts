// Standing in line for a lease. The script grants, or gives a place in the line; whoever frees something
// grants it to the first in line and tells its process (lua/shared/tickets).
//
//   attempt ──granted──► the lease
//      ▲ └───queued──► wait for a letter ──granted──► the lease, unless it was spent on the way
//      │                     │
//      └── come, or recheck ─┘──time is over, or aborted──► abandon
//
// The id makes an attempt safe to repeat: one that holds already, or stands in line, is told so again.

import { setMaxListeners } from 'node:events'
import { pause, unlessAborted, within } from './in-time.ts'
import type { Letter, Mailbox, Post } from './mailbox.ts'

/** A lease that the server granted: by whose clock it ends, and when by ours at the latest. */
export interface Grant {
  readonly token: number
  readonly expiresAtMs: number
  /** `performance.now()` at which the lease is over for this process; never later than for the server. */
  readonly endsAt: number
}

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

export interface LineTerms {
  readonly mailbox: Mailbox
  /** Beginning of the channels on which processes are told. */
  channel(): string | Promise<string>
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

// With a live subscription this is a safety net; without one (it may be forbidden) the way of waiting.
const RECHECK_MS = 15_000
const RECHECK_UNHEARD_MS = 250
// Whoever cannot listen by then does without: what is free should not wait for that.
const OPENING_MS = 1000
// The server counts whole milliseconds, so a lease may end up to one earlier than its length says.
const ROUNDING_MS = 1

/** Resolves to null when nothing became free for `waitMs`. Rejects with the signal's reason. */
export function standInLine(attempts: Attempts, terms: LineTerms): Promise<Grant | null> {
  const { mailbox, waitMs, signal } = terms
  if (signal?.aborted) return Promise.reject(signal.reason)
  // One signal may end the waiting of thousands.
  if (signal !== undefined) setMaxListeners(0, signal)
  const id = mailbox.newId()
  if (waitMs === 0) return tryOnce(attempts, id)
  return attempts.passes ? tryFirst(attempts, id, terms) : waitFor(attempts, id, terms)
}

async function tryFirst(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  return (await tryOnce(attempts, id)) ?? waitFor(attempts, id, terms)
}

async function waitFor(attempts: Attempts, id: string, terms: LineTerms): Promise<Grant | null> {
  const endsAt = performance.now() + terms.waitMs
  const post = postNow(terms, id) ?? (await openPost(terms, id))
  const waiter = new Waiter(attempts, id, post, endsAt, terms.signal)
  try {
    return await waiter.wait()
  } finally {
    post?.close()
  }
}

async function tryOnce(attempts: Attempts, id: string): Promise<Grant | null> {
  const askedAt = performance.now()
  const asking = attempts.attempt(id, { waits: false, listens: false })
  try {
    const standing = await asking
    if (standing.status !== 'granted') return null
    const grant = toGrant(standing, askedAt)
    if (grant.endsAt > performance.now()) return grant
  } catch (error) {
    abandon(attempts, id, { asking, listens: false })
    throw error
  }
  abandon(attempts, id, { asking, listens: false })
  return null
}

/**
 * Not awaited: the caller has its answer. After what was asked last, lest that be carried out later. What
 * cannot be told ends with the lease.
 */
function abandon(attempts: Attempts, id: string, last: { asking: Promise<unknown>; listens: boolean }): void {
  const tell = (): Promise<unknown> => attempts.abandon(id, { listens: last.listens })
  last.asking.then(tell, tell).catch(() => undefined)
}

/** Null when the process has to subscribe first. */
function postNow(terms: LineTerms, id: string): Post | null {
  const channel = terms.channel()
  return typeof channel === 'string' ? terms.mailbox.expectNow(channel, id) : null
}

/** Null when the process cannot listen. */
async function openPost(terms: LineTerms, id: string): Promise<Post | null> {
  const opening = Promise.resolve(terms.channel()).then((channel) => terms.mailbox.expect(channel, id))
  try {
    return await within(opening, Math.min(terms.waitMs, OPENING_MS), terms.signal)
  } catch {
    // Came too late: nobody will use it.
    opening.then((post) => post.close()).catch(() => undefined)
    terms.signal?.throwIfAborted()
    return null
  }
}

class Waiter {
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
    const at = performance.now()
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
    const byLastAnswer = this.#asked.at + (expiresAtMs - this.#asked.nowMs)
    const endsAt = Math.min(byLastAnswer, receivedAt + (expiresAtMs - nowMs)) - ROUNDING_MS
    return { token, expiresAtMs, endsAt }
  }

  #abandon(): void {
    abandon(this.#attempts, this.#id, { asking: this.#asking, listens: this.#post !== null })
  }
}

/** `askedAt`: `performance.now()` before it was asked for; from then on the lease is counted. */
export function toGrant(
  { token, expiresAtMs, nowMs }: { token: number; expiresAtMs: number; nowMs: number },
  askedAt: number,
): Grant {
  return { token, expiresAtMs, endsAt: askedAt + (expiresAtMs - nowMs) - ROUNDING_MS }
}
