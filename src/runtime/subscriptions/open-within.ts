// A subscription of waiters that may open late: they begin without it.

import { within } from '../time/in-time.ts'

/** Waiters that cannot listen by then continue without: free resources should not wait for a subscription. */
const OPENING_MS = 1000

/** A subscription that may open late. */
export interface Opening<Opened> {
  /** Null until it is open: the waiter continues without it, and checks again at each poll. */
  readonly now: Opened | null
  /** Also closes a subscription that opens later. */
  close(): void
}

class LateOpening<Opened extends { close(): unknown }> implements Opening<Opened> {
  #opened: Opened | null = null
  #isClosed = false

  constructor(opening: Promise<Opened>) {
    opening.then(
      (opened) => this.#come(opened),
      () => undefined, // listening is forbidden: it never opens
    )
  }

  get now(): Opened | null {
    return this.#opened
  }

  close(): void {
    this.#isClosed = true
    this.#opened?.close()
  }

  #come(opened: Opened): void {
    if (this.#isClosed) opened.close()
    else this.#opened = opened
  }
}

/**
 * Resolves once it is open, cannot be opened, or after `ms`, at most a second; it may open later then. Rejects with the
 * signal's reason; a subscription that opens after that is closed.
 */
export async function openWithin<Opened extends { close(): unknown }>(
  opening: Promise<Opened>,
  ms: number,
  signal?: AbortSignal,
): Promise<Opening<Opened>> {
  const late = new LateOpening(opening)
  try {
    await within(opening, Math.min(ms, OPENING_MS), signal)
  } catch {
    if (signal?.aborted) late.close()
    signal?.throwIfAborted()
  }
  return late
}
