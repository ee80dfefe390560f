// The facade: one entry point with every structure of one Redis. No logic.

import {
  type Autocomplete,
  type AutocompleteOptions,
  autocomplete,
  autocompleteScripts,
} from './autocomplete/index.ts'
import { type Cache, type CacheOptions, cache, cacheScripts } from './cache/index.ts'
import { Catalog } from './catalog/catalog.ts'
import {
  type CollectionHash,
  type CollectionList,
  type CollectionOptionsOf,
  type CollectionSet,
  type CollectionSortedSet,
  type CollectionsByKind,
  collectionScripts,
  type Kind,
} from './collection/index.ts'
import { openCollection } from './collection/open.ts'
import {
  type Counters,
  type CountersOptions,
  counters,
  countersScripts,
  type RowCounters,
  type RowCountersOptions,
  type OutboxCounters,
  type OutboxCountersOptions,
} from './counters/index.ts'
import type { Driver } from './driver.ts'
import {
  type Feed,
  type FeedOptions,
  feedScripts,
  openFeed,
  type PartitionedFeed,
  type PartitionedFeedOptions,
} from './feed/index.ts'
import * as catalogOperations from './generated/catalog.ts'
import {
  type Election,
  type ElectionOptions,
  election,
  type Fenced,
  type FencedOptions,
  fenced,
  type Lock,
  type LockOptions,
  type LockSet,
  lock,
  lockScripts,
  locks,
} from './lock/index.ts'
import { type Once, type OnceOptions, once, onceScripts } from './once/index.ts'
import {
  type GivenBy,
  type MadeBy,
  openQueue,
  type PartitionedQueue,
  type PartitionedQueueOptions,
  type Queue,
  type QueueOptions,
  queueScripts,
  type SchemasByName,
} from './queue/index.ts'
import {
  type Allowed,
  type Denied,
  type RateLimit,
  type RateLimitOptions,
  rateLimit,
  rateLimitScripts,
} from './rate-limit/index.ts'
import {
  Connection,
  type ConnectionOptions,
  scriptsOf,
  type StructureScripts,
} from './runtime/connection/connection.ts'
import { type Semaphore, type SemaphoreOptions, semaphore, semaphoreScripts } from './semaphore/index.ts'

const ALL_SCRIPTS: readonly StructureScripts[] = [
  autocompleteScripts,
  feedScripts,
  cacheScripts,
  /* @__PURE__ */ scriptsOf('catalog', catalogOperations),
  collectionScripts,
  countersScripts,
  lockScripts,
  onceScripts,
  queueScripts,
  rateLimitScripts,
  semaphoreScripts,
]

/** All structures of one Redis under one namespace: a connection with a method for each. */
export class Perilune extends Connection {
  /** A feed over several slots: ordered within each partition, with one cursor for all. */
  feed<Body = unknown>(name: string, options: PartitionedFeedOptions<Body>): PartitionedFeed<Body>
  /** An append-only list of messages, read by cursors or shared out by claims. */
  feed<Body = unknown>(name: string, options?: FeedOptions<Body>): Feed<Body>
  feed<Body>(
    name: string,
    options: FeedOptions<Body> | PartitionedFeedOptions<Body> = {},
  ): Feed<Body> | PartitionedFeed<Body> {
    return openFeed(this.runtime, name, options)
  }

  /** At most one holder at a time, for a limited time. */
  lock(name: string, options: LockOptions = {}): Lock {
    return lock(this, name, options)
  }

  /** Permits for a limited time; at most the limit are held at once. */
  semaphore(name: string, options: SemaphoreOptions): Semaphore {
    return semaphore(this, name, options)
  }

  /** Several locks at once, all or none. */
  locks(names: readonly string[], options: LockOptions = {}): LockSet {
    return locks(this, names, options)
  }

  /** One leader among all processes that campaign under a name. */
  election(name: string, options: ElectionOptions = {}): Election {
    return election(this, name, options)
  }

  /** A value that only the newest holder of a lock can write. */
  fenced<Value = unknown>(name: string, options: FencedOptions<Value> = {}): Fenced<Value> {
    return fenced(this, name, options)
  }

  /** Idempotency keys: the work of a key is done once, and every caller gets its result. */
  once<Result = unknown>(name: string, options: OnceOptions<Result> = {}): Once<Result> {
    return once(this, name, options)
  }

  /** Jobs in several slots; the schemas define their payloads. */
  queue<Schemas extends SchemasByName>(
    name: string,
    options: PartitionedQueueOptions & { schemas: Schemas },
  ): PartitionedQueue<MadeBy<Schemas>, GivenBy<Schemas>>
  /** Jobs in several slots: one name and one worker, with more throughput than one core gives. */
  queue<Jobs extends object = Record<string, unknown>>(
    name: string,
    options: PartitionedQueueOptions,
  ): PartitionedQueue<Jobs>
  /** Jobs, each done by one worker at a time; the schemas define their payloads. */
  queue<Schemas extends SchemasByName>(
    name: string,
    options: QueueOptions & { schemas: Schemas },
  ): Queue<MadeBy<Schemas>, GivenBy<Schemas>>
  /** Jobs, each done by one worker at a time. `Jobs` maps their names to their payloads. */
  queue<Jobs extends object = Record<string, unknown>>(name: string, options?: QueueOptions): Queue<Jobs>
  queue(name: string, options: QueueOptions | PartitionedQueueOptions = {}): Queue | PartitionedQueue {
    return openQueue(this.runtime, name, options)
  }

  /** Values that are expensive to compute, kept for a limited time; one process loads for all. */
  cache<Value = unknown>(name: string, options: CacheOptions<Value> = {}): Cache<Value> {
    return cache(this, name, options)
  }

  /** How much each subject may take. Without `onOutage` every decision is the store's. */
  rateLimit(name: string, options: RateLimitOptions & { onOutage?: 'throw' }): RateLimit<Allowed | Denied>
  /** How much each subject may take, and the decision while the store cannot decide. */
  rateLimit(name: string, options: RateLimitOptions): RateLimit
  rateLimit(name: string, options: RateLimitOptions): RateLimit {
    return rateLimit(this, name, options)
  }

  /** A cached list, replaced in one step. */
  collection<Value = unknown>(
    name: string,
    options: CollectionOptionsOf<Value, 'list'>,
  ): CollectionList<Value>
  /** A cached set, replaced in one step. */
  collection<Value = unknown>(name: string, options: CollectionOptionsOf<Value, 'set'>): CollectionSet<Value>
  /** A cached hash, replaced in one step. */
  collection<Value = unknown>(
    name: string,
    options: CollectionOptionsOf<Value, 'hash'>,
  ): CollectionHash<Value>
  /** A cached sorted set, replaced in one step. */
  collection<Value = unknown>(
    name: string,
    options: CollectionOptionsOf<Value, 'sortedSet'>,
  ): CollectionSortedSet<Value>
  /** Items that are cached as a whole. */
  collection<Value = unknown>(
    name: string,
    options: CollectionOptionsOf<Value, Kind>,
  ): CollectionsByKind<Value>[Kind]
  collection<Value>(name: string, options: CollectionOptionsOf<Value, Kind>): CollectionsByKind<Value>[Kind] {
    return openCollection(this.runtime, name, options)
  }

  /** Texts that are suggested while a user types. */
  autocomplete<Payload = unknown>(
    name: string,
    options: AutocompleteOptions<Payload> = {},
  ): Autocomplete<Payload> {
    return autocomplete(this, name, options)
  }

  /** Values that Redis counts and an SQL database stores: each increment arrives there exactly once. */
  counters(name: string, options: CountersOptions): Counters
  /** Values that count rows of your SQL database, and that Redis shows. */
  counters(name: string, options: RowCountersOptions): RowCounters
  /** Values that change in transactions of an SQL database, and that Redis shows. */
  counters<Client>(name: string, options: OutboxCountersOptions<Client>): OutboxCounters<Client>
  counters(
    name: string,
    options: CountersOptions | RowCountersOptions | OutboxCountersOptions<never>,
  ): Counters | RowCounters | OutboxCounters<never> {
    return counters(this, name, options as CountersOptions)
  }

  /** An ordered list of names, each with a small document. */
  catalog<Document = unknown>(name: string): Catalog<Document> {
    return new Catalog(this.runtime, name)
  }

  /**
   * Loads every script, or those of the given structures, on every primary, so that no first call pays for loading.
   * Throws as `preload` of a connection does.
   */
  override preload(structures: readonly StructureScripts[] = ALL_SCRIPTS): Promise<void> {
    return super.preload(structures)
  }
}

/**
 * Starts Perilune on a driver, with all structures: `perilune(ioredis(client), { namespace: 'shop' })`. A bundled
 * program that uses few structures takes `connect` of `perilune/connection`. Throws InvalidArgumentError, also for a
 * driver that was closed with its last instance.
 */
export function perilune(driver: Driver, options: ConnectionOptions = {}): Perilune {
  return new Perilune(driver, options)
}
