// The common exports of `perilune` and `perilune/feed`.

export type { Appended } from './appender.ts'
export type { Removed, RemoveOptions } from './by-id.ts'
export { Claim, PartitionClaim } from './claim.ts'
export type {
  ClaimLease,
  ClaimMessages,
  ExtendedClaims,
  ExtendOptions,
  PartitionClaimLease,
  Refused,
  SettledAck,
  SettledClaim,
  ClaimsByToken,
} from './claim-by-token.ts'
export type { ClaimOptions } from './claims.ts'
export { Feed } from './feed.ts'
export type { FeedOptions, Retention } from './feed-options.ts'
export type { FeedInspection, PartitionedInspection, PartitionInspection } from './inspection.ts'
export type {
  FoundMessages,
  FoundPartitionedMessages,
  Message,
  PartitionedMessage,
  UndecodableMessage,
  UndecodablePartitionedMessage,
} from './message.ts'
export type { AppendOptions, NewMessage } from './new-message.ts'
export type { Page, PartitionedPage, PartitionedReadOptions, ReadOptions } from './page.ts'
export { PartitionedFeed, type PartitionedFeedOptions } from './partitioned-feed.ts'
export type { NewPartitionedMessage, PartitionedAppended, PartitionedAppendOptions } from './router.ts'
export {
  type CommitOptions,
  PartitionedSubscriber,
  Subscriber,
  type SubscriberOptions,
} from './subscriber.ts'
export type {
  PartitionedTailOptions,
  TailedMessage,
  TailedPartitionedMessage,
  TailOptions,
} from './tail.ts'
