// A push that was given up becomes a dead letter. If that cannot be stored, as on a full server, the push waits for it
// alone: the other pushes of its batch must neither stop nor be sent again.

import { AmbiguousError, DriverError } from 'perilune'
import type { Addressee } from './letter-sender.ts'
import type { Push } from './pushes.ts'

export interface GivenUpPushes {
  /** Reports a push that was given up. */
  report(to: Addressee, why: string): void
  /** Stores it for the dead letter queue, if its queue has one. */
  store(to: Addressee, push: Push): Promise<void>
  /** Reports that it could not be stored so far. */
  reportUnstored(to: Addressee, error: unknown): void
}

const FIRST_PAUSE_MS = 1000
const LAST_PAUSE_MS = 60_000
/** During these the progress of the subscription cannot be stored either. */
const OUTAGES: ReadonlySet<string> = new Set([
  'unreachable',
  'busy',
  'store-read-only',
  'overloaded',
  'closed',
])

/**
 * Null if its dead letter is stored; otherwise how often it could not be, and the pause before the next time. `before`:
 * how often it could not be until now. Throws during an outage.
 */
export async function giveUp(
  letters: GivenUpPushes,
  to: Addressee,
  push: Push,
  { why, before }: { readonly why: string; readonly before: number | undefined },
): Promise<{ readonly unstored: number; readonly pauseMs: number } | null> {
  if (before === undefined) letters.report(to, why)
  try {
    await letters.store(to, push)
    return null
  } catch (error) {
    if (to.signal.aborted || isOutage(error)) throw error
    if (before === undefined) letters.reportUnstored(to, error)
    const unstored = (before ?? 0) + 1
    return { unstored, pauseMs: Math.min(FIRST_PAUSE_MS * 2 ** (unstored - 1), LAST_PAUSE_MS) }
  }
}

function isOutage(error: unknown): boolean {
  return error instanceof AmbiguousError || (error instanceof DriverError && OUTAGES.has(error.code))
}
