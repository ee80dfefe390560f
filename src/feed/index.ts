// What `perilune/feed` exports.

import * as operations from '../generated/feed.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import { Feed } from './feed.ts'
import type { FeedOptions } from './feed-options.ts'
import { PartitionedFeed, type PartitionedFeedOptions } from './partitioned-feed.ts'

export * from './names.ts'

/** For `preload` of a connection. */
export const feedScripts: StructureScripts = /* @__PURE__ */ scriptsOf('feed', operations)

/** An append-only list of messages, followed by markers and shared out by claims. Throws InvalidArgumentError. */
export function feed<Body = unknown>(
  connection: HasRuntime,
  name: string,
  options: FeedOptions<Body> = {},
): Feed<Body> {
  return new Feed(runtimeOf(connection), name, options)
}

/** A feed over several slots: an order for each partition, one marker for all. Throws InvalidArgumentError. */
export function partitionedFeed<Body = unknown>(
  connection: HasRuntime,
  name: string,
  options: PartitionedFeedOptions<Body> = {},
): PartitionedFeed<Body> {
  return new PartitionedFeed(runtimeOf(connection), name, options)
}
