// A server that refuses writes may be the primary no more, and its client may not know: a planned failover leaves connections
// as they are. Then the client is made to look for the primary again: to ask the Sentinels, or to connect again to its
// address, which may lead to another server by now. Where none is found, it looks ever less often.

import { ServerReplyError } from '../../driver.ts'

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** Calls are tried again four times a second: after so long without a refusal the next one is of another failover. */
const QUIET_MS = 1000

export class PrimarySearch {
  readonly #isSign: (error: Error) => boolean
  readonly #look: () => void
  #pauseMs = FIRST_PAUSE_MS
  #lookedAt = -Infinity
  #refusedAt = -Infinity

  /** `isSign`: whether an error says so. `look` is called for the first of them at once. */
  constructor(isSign: (error: Error) => boolean, look: () => void) {
    this.#isSign = isSign
    this.#look = look
  }

  /** What a call has failed with. */
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

/** Whether the server has refused with one of these words. */
export function isRefusal(error: Error, ...words: readonly string[]): boolean {
  return error instanceof ServerReplyError && words.includes(error.word)
}
