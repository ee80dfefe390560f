// The exports of `perilune/feed`.

import * as operations from '../generated/feed.ts'
import { type HasRuntime, runtimeOf } from '../runtime/connection/access.ts'
import { scriptsOf, type StructureScripts } from '../runtime/connection/connection.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import { checkOptions } from '../runtime/values/arguments.ts'
import { Feed } from './feed.ts'
import { FEED_OPTIONS, type FeedOptions } from './feed-options.ts'
import { PartitionedFeed, type PartitionedFeedOptions } from './partitioned-feed.ts'

export * from './names.ts'

/** For `preload` of a connection. */
export const feedScripts: StructureScripts = /* @__PURE__ */ scriptsOf('feed', operations)

/** A feed over several slots, with an order per partition and one cursor for all. Throws InvalidArgumentError. */
export function feed<Body = unknown>(
  connection: HasRuntime,
  name: string,
  options: PartitionedFeedOptions<Body>,
): PartitionedFeed<Body>
/** An append-only list of messages, followed by cursors and shared by claims. Throws InvalidArgumentError. */
export function feed<Body = unknown>(
  connection: HasRuntime,
  name: string,
  options?: FeedOptions<Body>,
): Feed<Body>
export function feed<Body>(
  connection: HasRuntime,
  name: string,
  options: FeedOptions<Body> | PartitionedFeedOptions<Body> = {},
): Feed<Body> | PartitionedFeed<Body> {
  return openFeed(runtimeOf(connection), name, options)
}

/** A feed with or without partitions. Throws InvalidArgumentError. */
export function openFeed<Body>(
  runtime: Runtime,
  name: string,
  options: FeedOptions<Body> | PartitionedFeedOptions<Body>,
): Feed<Body> | PartitionedFeed<Body> {
  checkOptions('options', options, [...FEED_OPTIONS, 'partitions'])
  if ('partitions' in options) return new PartitionedFeed(runtime, name, options)
  return new Feed(runtime, name, options)
}
