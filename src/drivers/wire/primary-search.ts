// A server that rejects writes may no longer be the primary, and its client may not notice: a planned failover leaves
// connections open. The client is then made to look for the primary again: to ask the Sentinels, or to reconnect to its
// address, which may lead to another server by now. While none is found, it looks at growing intervals.

import { ServerReplyError } from '../../driver.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/**
 * Calls are retried four times a second: after this long without a rejection, the next one belongs to another failover.
 */
const QUIET_MS = 1000

export class PrimarySearch {
  readonly #isSign: (error: Error) => boolean
  readonly #look: () => void
  #pauseMs = FIRST_PAUSE_MS
  #lookedAt = -Infinity
  #refusedAt = -Infinity

  /** `isSign`: whether an error suggests a failover. `look` is called at once for the first such error. */
  constructor(isSign: (error: Error) => boolean, look: () => void) {
    this.#isSign = isSign
    this.#look = look
  }

  /** Notes the error of a failed call. */
  note(error: Error): void {
    if (!this.#isSign(error)) return
    const now = performance.now()
    const isAnother = now - this.#refusedAt > QUIET_MS
    this.#refusedAt = now
    if (isAnother) this.#pauseMs = FIRST_PAUSE_MS
    else if (now - this.#lookedAt < this.#pauseMs) return
    else this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#lookedAt = now
    this.#look()
  }
}

/** Whether the server rejected the call with one of these error codes. */
export function isRefusal(error: Error, ...words: readonly string[]): boolean {
  return error instanceof ServerReplyError && words.includes(error.word)
}
