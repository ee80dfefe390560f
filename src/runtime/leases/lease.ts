// A right that ends by itself, as those who have it see it.

import type { Duration } from '../values/duration.ts'

/** Leaving an `await using` block gives it back. */
export interface Lease extends AsyncDisposable {
  /** Greater than that of every earlier lease on the same resource: hand it to what you protect. */
  readonly token: number
  /** When the lease ends, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
  /** How much of the lease is left by this process's own clock; never more than the server grants. */
  readonly remainingMs: number
  /**
   * Aborts when the lease is lost, with the LeaseLostError as its reason. To ask for it is to look at the clock; one that was kept
   * in a variable aborts a turn of the event loop later when the process has been asleep.
   */
  readonly signal: AbortSignal
  /** Throws LeaseLostError unless the lease is held now, also when the process has been asleep. */
  assertHeld(): void
  /** Makes the lease last `lease` from now; default: as long as it was asked for. Throws LeaseLostError. */
  extend(lease?: Duration): Promise<void>
  /** Gives the lease back. Throws LeaseLostError when it had ended before. A second call does nothing. */
  release(): Promise<void>
}

/** A lease as a task has it: its signal aborts also when that of the caller does. */
export interface TaskLease extends Lease {
  heed(signal: AbortSignal): void
  /** A task runs under it from now on, and ends it. */
  begin(): void
  /** As `release`, of which nobody tries again what has failed: so it is tried again until the lease is over, and nobody waits for that. */
  end(): Promise<void>
}
