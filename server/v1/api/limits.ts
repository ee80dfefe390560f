import type { Duration } from 'perilune'

/** The limits of the native feed API. */
export interface FeedLimits {
  /** Bytes of a request that appends. No more than one script call carries, so that a request is all or nothing. */
  readonly maxAppendBytes: number
  /** Bytes of the body of any other request. */
  readonly maxOtherBytes: number
  /** After which a waiting request is answered, whatever its `wait`: shorter than proxies keep silent connections. */
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
