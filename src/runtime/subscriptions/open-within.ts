// A subscription of waiters that may open late: they begin without it.

import { within } from '../time/in-time.ts'

/** Waiters that cannot listen by then continue without: free resources should not wait for a subscription. */
const OPENING_MS = 1000

/** The pauses after refusals: the server may be down, or listening forbidden. */
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 10_000

/** A subscription that may open late. */
export interface Opening<Opened> {
  /** Null until it is open: the waiter continues without it, and checks again at each poll. */
  readonly now: Opened | null
  /** Also closes a subscription that opens later. */
  close(): void
}

type Open<Opened> = () => Promise<Opened>

/** When a subscription that was refused is opened again: one of all waiters tries, and its success lets all others. */
export class Reopening {
  #pauseMs = FIRST_PAUSE_MS
  #againAt = -Infinity
  #refusedAt = -Infinity

  /** True for one caller after each pause. */
  isDue(): boolean {
    const now = performance.now()
    if (now < this.#againAt) return false
    if (this.#pauseMs > FIRST_PAUSE_MS) this.#againAt = now + this.#pauseMs
    return true
  }

  /** `begunAt`: waiters share subscriptions, and so their refusals. */
  refused(begunAt: number): void {
    if (begunAt < this.#refusedAt) return
    this.#refusedAt = performance.now()
    // Many processes may have been refused at once.
    this.#againAt = this.#refusedAt + Math.min(this.#pauseMs * (0.5 + Math.random()), LONGEST_PAUSE_MS)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
  }

  opened(): void {
    this.#pauseMs = FIRST_PAUSE_MS
    this.#againAt = -Infinity
  }
}

class LateOpening<Opened extends { close(): unknown }> implements Opening<Opened> {
  readonly #open: Open<Opened>
  readonly first: Promise<unknown>
  #opened: Opened | null = null
  #isClosed = false
  #wasRefused = false
  readonly #reopening: Reopening

  constructor(open: Open<Opened>, reopening: Reopening) {
    this.#open = open
    this.#reopening = reopening
    // While others are refused, it waits with them.
    this.#wasRefused = !reopening.isDue()
    this.first = this.#wasRefused ? Promise.resolve() : this.#begin()
  }

  get now(): Opened | null {
    if (this.#wasRefused && this.#reopening.isDue()) void this.#begin()
    return this.#opened
  }

  close(): void {
    this.#isClosed = true
    this.#opened?.close()
  }

  /** Does not reject. */
  #begin(): Promise<unknown> {
    this.#wasRefused = false
    const begunAt = performance.now()
    return this.#open().then(
      (opened) => this.#come(opened),
      () => {
        this.#wasRefused = true
        this.#reopening.refused(begunAt)
      },
    )
  }

  #come(opened: Opened): void {
    this.#reopening.opened()
    if (this.#isClosed) opened.close()
    else this.#opened = opened
  }
}

/**
 * Resolves once it is open, is refused, or after `ms`, at most a second; it may open later then, and is opened again
 * after a refusal. Rejects with the signal's reason; a subscription that opens after that is closed.
 */
export async function openWithin<Opened extends { close(): unknown }>(
  reopening: Reopening,
  open: Open<Opened>,
  ms: number,
  signal?: AbortSignal,
): Promise<Opening<Opened>> {
  const late = new LateOpening(open, reopening)
  try {
    await within(late.first, Math.min(ms, OPENING_MS), signal)
  } catch {
    if (signal?.aborted) late.close()
    signal?.throwIfAborted()
  }
  return late
}
