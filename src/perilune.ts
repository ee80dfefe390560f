// The facade: one way to start, and every structure of one Redis. No logic.

import { Autocomplete, type AutocompleteOptions } from './autocomplete/autocomplete.ts'
import { Cache, type CacheOptions } from './cache/cache.ts'
import { Catalog } from './catalog/catalog.ts'
import type {
  CollectionHash,
  CollectionList,
  CollectionSet,
  CollectionSortedSet,
  Kind,
} from './collection/collection.ts'
import { type CollectionOptionsOf, type CollectionsByKind, openCollection } from './collection/open.ts'
import type { Counters, CountersOptions } from './counters/counters.ts'
import type { DerivedCounters, DerivedCountersOptions } from './counters/derived.ts'
import type { DurableCounters, DurableCountersOptions } from './counters/durable.ts'
import { type AnyCounters, type AnyCountersOptions, openCounters } from './counters/open.ts'
import type { Driver, Script } from './driver.ts'
import { Feed, type FeedOptions } from './feed/feed.ts'
import { PartitionedFeed, type PartitionedFeedOptions } from './feed/partitioned.ts'
import * as autocompleteOperations from './generated/autocomplete.ts'
import * as cacheOperations from './generated/cache.ts'
import * as catalogOperations from './generated/catalog.ts'
import * as collectionOperations from './generated/collection.ts'
import * as countersOperations from './generated/counters.ts'
import * as feedOperations from './generated/feed.ts'
import * as lockOperations from './generated/lock.ts'
import * as onceOperations from './generated/once.ts'
import * as queueOperations from './generated/queue.ts'
import * as rateLimitOperations from './generated/rate-limit.ts'
import * as semaphoreOperations from './generated/semaphore.ts'
import { Election, type ElectionOptions } from './lock/election.ts'
import { Fenced, type FencedOptions } from './lock/fenced.ts'
import { Lock, type LockOptions } from './lock/lock.ts'
import { LockSet } from './lock/lock-set.ts'
import { Once, type OnceOptions } from './once/once.ts'
import { openQueue } from './queue/open.ts'
import type { PartitionedQueue, PartitionedQueueOptions } from './queue/partitioned.ts'
import type { Queue, QueueOptions } from './queue/queue.ts'
import type { GivenBy, MadeBy, SchemasByName } from './queue/schemas.ts'
import type { Allowed, Denied } from './rate-limit/decision.ts'
import { RateLimit, type RateLimitOptions } from './rate-limit/rate-limit.ts'
import type { HasRuntime } from './runtime/access.ts'
import type { Shares } from './runtime/answers-due.ts'
import { checkOptions } from './runtime/arguments.ts'
import { type Duration, toMs } from './runtime/duration.ts'
import { checkNamespace } from './runtime/keys.ts'
import { Runtime } from './runtime/runtime.ts'
import { Semaphore, type SemaphoreOptions } from './semaphore/semaphore.ts'

export interface PeriluneOptions {
  /** Begins all our keys; default `perilune`. */
  namespace?: string
  /** When a call that has no answer yet is given up; default 5 seconds. */
  deadline?: Duration
  /** @internal Whose calls take turns where answers are large; default: those of each unit. For the service. */
  shares?: Shares
}

/** The structures of one Redis, under one namespace. */
export class Perilune implements AsyncDisposable, HasRuntime {
  readonly #runtime: Runtime

  constructor(driver: Driver, options: PeriluneOptions) {
    const { namespace = 'perilune', deadline = '5s', shares } = options
    this.#runtime = new Runtime(driver, checkNamespace(namespace), toMs('deadline', deadline), shares)
  }

  /** @internal For modules written by `perilune generate`. */
  get runtime(): Runtime {
    return this.#runtime
  }

  /** An append-only list of messages, followed by markers and shared out by claims. */
  feed<Body = unknown>(name: string, options: FeedOptions<Body> = {}): Feed<Body> {
    return new Feed(this.#runtime, name, options)
  }

  /** A feed over several slots: an order for each partition, one marker for all. */
  partitionedFeed<Body = unknown>(
    name: string,
    options: PartitionedFeedOptions<Body> = {},
  ): PartitionedFeed<Body> {
    return new PartitionedFeed(this.#runtime, name, options)
  }

  /** At most one holder at a time, for a limited time. */
  lock(name: string, options: LockOptions = {}): Lock {
    return new Lock(this.#runtime, name, options)
  }

  /** Permits for a limited time, of which so many are out at once as the limit allows. */
  semaphore(name: string, options: SemaphoreOptions): Semaphore {
    return new Semaphore(this.#runtime, name, options)
  }

  /** Several locks at once, all or none. */
  locks(names: readonly string[], options: LockOptions = {}): LockSet {
    return new LockSet(this.#runtime, names, options)
  }

  /** One leader among all processes that campaign under a name. */
  election(name: string, options: ElectionOptions = {}): Election {
    return new Election(this.#runtime, name, options)
  }

  /** A value that only the newest holder of a lock can write. */
  fenced<Value = unknown>(name: string, options: FencedOptions<Value> = {}): Fenced<Value> {
    return new Fenced(this.#runtime, name, options)
  }

  /** Idempotency keys: the work of a key is done once, and everybody gets its result. */
  once<Result = unknown>(name: string, options: OnceOptions<Result> = {}): Once<Result> {
    return new Once(this.#runtime, name, options)
  }

  /** Jobs in several slots; the schemas say what their payloads are. */
  queue<Schemas extends SchemasByName>(
    name: string,
    options: PartitionedQueueOptions & { schemas: Schemas },
  ): PartitionedQueue<MadeBy<Schemas>, GivenBy<Schemas>>
  /** Jobs in several slots: one name, one worker, more than one core takes. */
  queue<Jobs extends object = Record<string, unknown>>(
    name: string,
    options: PartitionedQueueOptions,
  ): PartitionedQueue<Jobs>
  /** Jobs, each done by one worker at a time; the schemas say what their payloads are. */
  queue<Schemas extends SchemasByName>(
    name: string,
    options: QueueOptions & { schemas: Schemas },
  ): Queue<MadeBy<Schemas>, GivenBy<Schemas>>
  /** Jobs, each done by one worker at a time. `Jobs` maps their names to their payloads. */
  queue<Jobs extends object = Record<string, unknown>>(name: string, options?: QueueOptions): Queue<Jobs>
  queue(name: string, options: QueueOptions | PartitionedQueueOptions = {}): Queue | PartitionedQueue {
    return openQueue(this.#runtime, name, options)
  }

  /** Values that cost something to make, kept for a while; one process loads on behalf of all. */
  cache<Value = unknown>(name: string, options: CacheOptions<Value> = {}): Cache<Value> {
    return new Cache(this.#runtime, name, options)
  }

  /** How much each subject may take; without `onOutage` a decision is always the store's own. */
  rateLimit(name: string, options: RateLimitOptions & { onOutage?: 'throw' }): RateLimit<Allowed | Denied>
  /** How much each subject may take, and what happens while the store cannot decide. */
  rateLimit(name: string, options: RateLimitOptions): RateLimit
  rateLimit(name: string, options: RateLimitOptions): RateLimit {
    return new RateLimit(this.#runtime, name, options)
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
    return openCollection(this.#runtime, name, options)
  }

  /** Texts that are suggested while someone types. */
  autocomplete<Payload = unknown>(
    name: string,
    options: AutocompleteOptions<Payload> = {},
  ): Autocomplete<Payload> {
    return new Autocomplete(this.#runtime, name, options)
  }

  /** Values that Redis counts and an SQL database keeps: each increment arrives there exactly once. */
  counters(name: string, options: CountersOptions): Counters
  /** Values that are counts of rows of yours in an SQL database, and that Redis shows. */
  counters(name: string, options: DerivedCountersOptions): DerivedCounters
  /** Values that are changed in transactions of an SQL database, and that Redis shows. */
  counters<Client>(name: string, options: DurableCountersOptions<Client>): DurableCounters<Client>
  counters(name: string, options: AnyCountersOptions): AnyCounters {
    return openCounters(this.#runtime, name, options)
  }

  /** An ordered list of names, each with a small document. */
  catalog<Document = unknown>(name: string): Catalog<Document> {
    return new Catalog(this.#runtime, name)
  }

  /** Loads every script on every master, so that no first call pays for it. */
  preload(): Promise<void> {
    return this.#runtime.preload(allScripts())
  }

  /** False while a connection that is needed is down, and once this instance closes. */
  healthy(): boolean {
    return this.#runtime.healthy()
  }

  /**
   * Ends this instance within one second. At once calls under way settle, others are refused (`DriverError` with `closed`),
   * what waits ends, and the signals of leases abort. What is at work has half a second to end; what is held then is given
   * back. The driver is closed with its last instance; the client stays yours to close.
   */
  close(): Promise<void> {
    return this.#runtime.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Starts Perilune on a driver: `perilune(ioredis(client), { namespace: 'shop' })`. Throws InvalidArgumentError, also for a
 * driver that was closed with its last instance.
 */
export function perilune(driver: Driver, options: PeriluneOptions = {}): Perilune {
  checkOptions('options', options, ['namespace', 'deadline', 'shares'])
  return new Perilune(driver, options)
}

function allScripts(): Script[] {
  const structures = [
    autocompleteOperations,
    feedOperations,
    cacheOperations,
    catalogOperations,
    collectionOperations,
    countersOperations,
    lockOperations,
    onceOperations,
    queueOperations,
    rateLimitOperations,
    semaphoreOperations,
  ]
  return structures.flatMap((operations) => Object.values(operations).map(({ script }) => script))
}
