// A server that rejects writes may no longer be the primary, and its client may not notice: a planned failover leaves
// connections open. The client is then made to look for the primary again: to ask the Sentinels, or to reconnect to its
// address, which may lead to another server by now. While none is found, it looks at growing intervals.

import { ServerReplyError } from '../../driver.ts'

const FIRST_PAUSE_MS = 500
/** Where a primary lacks replicas: that may last for hours, and it serves reads. */
const LONGEST_PAUSE_MS = 30_000
/** The address, or the Sentinels, may lead to the new primary at any time. */
const LONGEST_PAUSE_AT_REPLICA_MS = 2000
/**
 * Calls are retried four times a second: after this long without a rejection, the next one belongs to another failover.
 */
const QUIET_MS = 1000

export class PrimarySearch {
  readonly #isSign: (error: Error) => boolean
  readonly #look: (error: Error) => void
  #pauseMs = FIRST_PAUSE_MS
  #lookedAt = -Infinity
  #refusedAt = -Infinity

  /** `isSign`: whether an error suggests a failover. `look` is called at once for the first such error. */
  constructor(isSign: (error: Error) => boolean, look: (error: Error) => void) {
    this.#isSign = isSign
    this.#look = look
  }

  /** Notes the error of a failed call. */
  note(error: Error): void {
    if (!this.#isSign(error)) return
    const now = performance.now()
    const longestMs = isRefusal(error, 'NOREPLICAS') ? LONGEST_PAUSE_MS : LONGEST_PAUSE_AT_REPLICA_MS
    const isAnother = now - this.#refusedAt > QUIET_MS
    this.#refusedAt = now
    if (isAnother) this.#pauseMs = FIRST_PAUSE_MS
    else if (now - this.#lookedAt < Math.min(this.#pauseMs, longestMs)) return
    else this.#pauseMs = Math.min(this.#pauseMs * 2, longestMs)
    this.#lookedAt = now
    this.#look(error)
  }
}

/** Whether the server rejected the call with one of these error codes. */
export function isRefusal(error: Error, ...words: readonly string[]): boolean {
  return error instanceof ServerReplyError && words.includes(error.word)
}

/**
 * Whether MOVED came from a replica of a cluster, by its answer to `INFO replication`. A primary answers MOVED for keys of
 * others: it serves all its own keys, so the client stays. Also false if the user may not ask.
 */
export async function isReplica(info: Promise<unknown>): Promise<boolean> {
  const text = await info.catch(() => '')
  return String(text).includes('role:slave')
}
