// A lease that expires by itself, as its holder sees it.

import type { Duration } from '../values/duration.ts'

/** Leaving an `await using` block gives the lease back. */
export interface Lease extends AsyncDisposable {
  /**
   * Greater than that of every earlier lease on the same resource: pass it to the protected resource as a fencing
   * token.
   */
  readonly token: number
  /** When the lease ends, in milliseconds of the server's clock. */
  readonly expiresAtMs: number
  /** The remaining milliseconds of the lease, by this process's clock; never more than the server grants. */
  readonly remainingMs: number
  /**
   * Aborts when the lease is lost, with the LeaseLostError as its reason. Reading this property checks the clock. A
   * signal stored in a variable aborts one event loop turn later after the process was asleep.
   */
  readonly signal: AbortSignal
  /** Throws LeaseLostError unless the lease is held now, also after the process was asleep. */
  assertHeld(): void
  /** Makes the lease last `lease` from now on; default: its requested length. Throws LeaseLostError. */
  extend(lease?: Duration): Promise<void>
  /** Gives the lease back. Throws LeaseLostError when it had ended before. A second call has no effect. */
  release(): Promise<void>
}

/** A lease for a task: its signal aborts also when the caller's signal does. */
export interface TaskLease extends Lease {
  heed(signal: AbortSignal): void
  /** A task runs under the lease from now on, and ends it. */
  begin(): void
  /**
   * Like `release`, but the caller does not retry: a failed release is retried in the background until the lease is
   * over.
   */
  end(): Promise<void>
}
