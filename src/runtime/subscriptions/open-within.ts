// What those who wait listen on, and which may come late: they begin without it.

import { within } from '../time/in-time.ts'

/** Whoever cannot listen by then does without: what is free should not wait for that. */
const OPENING_MS = 1000

/** What is opened to listen, and may come late. */
export interface Opening<Opened> {
  /** Null until it has come: whoever waits does without, and looks again each time he asks. */
  readonly now: Opened | null
  /** What comes after that is closed, too. */
  close(): void
}

class LateOpening<Opened extends { close(): unknown }> implements Opening<Opened> {
  #opened: Opened | null = null
  #isClosed = false

  constructor(opening: Promise<Opened>) {
    opening.then(
      (opened) => this.#come(opened),
      () => undefined, // listening is forbidden: it never comes
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
 * Resolves once it is opened, or cannot be, or after `ms`, a second at most: then it may come later. Rejects with the signal's reason;
 * what comes after that is closed.
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
