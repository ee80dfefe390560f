// Every limit of the service, with the values that Zaqar has by default. Spans are in seconds.

export interface Limits {
  defaultMessageTtl: number
  minMessageTtl: number
  maxMessageTtl: number
  defaultMessageDelay: number
  maxMessageDelay: number
  defaultClaimTtl: number
  defaultClaimGrace: number
  minClaimTtl: number
  minClaimGrace: number
  maxClaimTtl: number
  maxClaimGrace: number
  defaultPage: number
  maxMessagesPerPage: number
  maxQueuesPerPage: number
  maxMessagesPerClaimOrPop: number
  /** Bytes of the body of a request that posts messages. */
  maxMessagesPostSize: number
  /** Bytes of the body of a request that sets metadata, and of the metadata that it results in. */
  maxQueueMetadata: number
  /** Bytes of any other body. */
  maxOtherBody: number
  /** How deep metadata may be nested. */
  maxMetadataDepth: number
  maxProjectLength: number
  /** `_max_claim_count`. */
  maxClaimCount: number
  /** Ids that a Location header names; clients refuse longer ones. */
  maxLocationIds: number
  /** How long metadata is used without looking again, in milliseconds. */
  metadataFreshMs: number
  /** Queues whose metadata one process remembers. */
  maxRememberedQueues: number
}

const DAY = 86_400

export const zaqarLimits: Limits = {
  defaultMessageTtl: 3600,
  minMessageTtl: 60,
  maxMessageTtl: 14 * DAY,
  defaultMessageDelay: 0,
  maxMessageDelay: 900,
  defaultClaimTtl: 300,
  defaultClaimGrace: 60,
  minClaimTtl: 60,
  minClaimGrace: 60,
  maxClaimTtl: DAY / 2,
  maxClaimGrace: DAY / 2,
  defaultPage: 10,
  maxMessagesPerPage: 20,
  maxQueuesPerPage: 20,
  maxMessagesPerClaimOrPop: 20,
  maxMessagesPostSize: 262_144,
  maxQueueMetadata: 65_536,
  maxOtherBody: 65_536,
  maxMetadataDepth: 100,
  maxProjectLength: 256,
  maxClaimCount: 1_000_000,
  maxLocationIds: 200,
  metadataFreshMs: 1000,
  maxRememberedQueues: 10_000,
}
