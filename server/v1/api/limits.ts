import type { Duration } from 'perilune'

/** The limits of the native feed API. */
export interface FeedLimits {
  /** Largest body of an append, in bytes: no more than one script call carries, so that an append is all or nothing. */
  readonly maxAppendBytes: number
  /** Largest body of any other request, in bytes. */
  readonly maxOtherBytes: number
  /**
   * When a waiting request is answered at the latest, whatever its `wait`, in milliseconds: before proxies close silent
   * connections.
   */
  readonly maxWaitMs: number
  /** How long an event stream may be silent. */
  readonly heartbeat: Duration
}

export const feedLimits: FeedLimits = {
  maxAppendBytes: 4_194_304,
  maxOtherBytes: 65_536,
  maxWaitMs: 50_000,
  heartbeat: '15s',
}
