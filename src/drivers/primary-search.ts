// A server that refuses writes may be the primary no more, and its client may not know: a planned failover leaves connections
// as they are. Then the client is made to look for the primary again: to ask the Sentinels, or to connect again to its
// address, which may lead to another server by now. Where none is found, it looks ever less often.

import { ServerReplyError } from '../driver.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000

export class PrimarySearch {
  readonly #words: ReadonlySet<string>
  readonly #look: () => void
  #pauseMs = FIRST_PAUSE_MS
  #lookedAt = -Infinity

  /** `words`: the replies that say so. `look` is called for the first of them at once. */
  constructor(words: readonly string[], look: () => void) {
    this.#words = new Set(words)
    this.#look = look
  }

  /** What a call has failed with. */
  note(error: Error): void {
    if (!(error instanceof ServerReplyError) || !this.#words.has(error.word)) return
    const quietMs = performance.now() - this.#lookedAt
    if (quietMs < this.#pauseMs) return
    // Long after the last one it is another failover.
    this.#pauseMs =
      quietMs > 2 * LONGEST_PAUSE_MS ? FIRST_PAUSE_MS : Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#lookedAt = performance.now()
    this.#look()
  }
}
