import Database from 'libsql'
import type {
  Autocomplete,
  Cache,
  Catalog,
  CollectionHash,
  CollectionList,
  CollectionSet,
  CollectionSortedSet,
  Counters,
  RowCounters,
  LoadsByToken,
  OutboxCounters,
  Perilune,
} from 'perilune'
import { type SqliteDatabase, sqlite, sqliteEvents, sqliteOutbox } from 'perilune/sqlite'
import { type CallsOf, type Group, gives, group } from './call.ts'

const load = (): number => 1
const loadMany = (keys: readonly string[]): Map<string, number> => new Map(keys.map((key) => [key, 1]))

/** As `loadDetached` gives it. */
const LOAD = Buffer.from(JSON.stringify([1, 'process.1', '', 0])).toString('base64url')

/** While Redis is away, values are loaded without it. */
const ofCache: CallsOf<Cache<number>> = {
  get: gives((cache, ending) => cache.get('k', load, { ...ending })),
  serve: gives((cache) => cache.serve('k', load, () => undefined)),
  getMany: gives((cache, ending) => cache.getMany(['k', 'l'], loadMany, { ...ending })),
  set: (cache) => cache.set('k', 1),
  getEntry: (cache) => cache.getEntry('k'),
  invalidate: (cache) => cache.invalidate(['k', 'l']),
  loadDetached: (cache, ending) => cache.loadDetached('k', { wait: '100ms', ...ending }),
  clear: (cache) => cache.clear(),
  inspectL1: gives((cache) => cache.inspectL1()),
  inspect: (cache) => cache.inspect('k'),
}

const ofLoads: CallsOf<LoadsByToken<number>> = {
  complete: (loads) => loads.complete('k', LOAD, 1),
  extend: (loads) => loads.extend('k', LOAD, '1m'),
  fail: (loads) => loads.fail('k', LOAD),
}

const caches: readonly Group[] = [
  group('LoadsByToken', (redis) => redis.cache<number>('a').byToken, ofLoads),
  group('Cache', (redis) => redis.cache<number>('a'), ofCache),
  group('Cache', (redis) => redis.cache<number>('a', { l1: { count: 10 } }), ofCache, 'in the process'),
]

const collections: readonly Group[] = [
  group<CollectionList<number>>('CollectionList', (redis) => redis.collection('a', { kind: 'list' }), {
    append: (list) => list.append([1]),
    replace: (list) => list.replace(Array.from({ length: 2000 }, (_, at) => at)),
    read: (list) => list.read(),
    inspect: (list) => list.inspect(),
    clear: (list) => list.clear(),
  }),
  group<CollectionSet<number>>('CollectionSet', (redis) => redis.collection('a', { kind: 'set' }), {
    add: (set) => set.add([1]),
    remove: (set) => set.remove([1]),
    replace: (set) => set.replace([1]),
    read: (set) => set.read(),
    inspect: (set) => set.inspect(),
    clear: (set) => set.clear(),
  }),
  group<CollectionHash<number>>('CollectionHash', (redis) => redis.collection('a', { kind: 'hash' }), {
    add: (hash) => hash.add([['f', 1]]),
    remove: (hash) => hash.remove(['f']),
    replace: (hash) => hash.replace([['f', 1]]),
    read: (hash) => hash.read(),
    inspect: (hash) => hash.inspect(),
    clear: (hash) => hash.clear(),
  }),
  group<CollectionSortedSet<number>>(
    'CollectionSortedSet',
    (redis) => redis.collection('a', { kind: 'sortedSet' }),
    {
      add: (set) => set.add([[1, 1]]),
      remove: (set) => set.remove([1]),
      replace: (set) => set.replace([[1, 1]]),
      read: (set) => set.read(),
      inspect: (set) => set.inspect(),
      clear: (set) => set.clear(),
    },
  ),
]

const TABLES = `
  CREATE TABLE items (id INTEGER PRIMARY KEY, votes INTEGER NOT NULL DEFAULT 0);
  CREATE TABLE votes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, item INTEGER NOT NULL, counted INTEGER NOT NULL DEFAULT 0
  );`

function database(): Database.Database {
  const opened = new Database(':memory:')
  opened.exec(TABLES)
  return opened
}

const TARGET = { table: 'items', id: 'id', value: 'votes' } as const

const OUTBOX = database()

const stored = (redis: Perilune): Counters => redis.counters('a', { sink: sqlite(database(), TARGET) })
const derived = (redis: Perilune): RowCounters =>
  redis.counters('a', { events: sqliteEvents(database(), { table: 'votes', id: 'item', target: TARGET }) })
const durable = (redis: Perilune): OutboxCounters<SqliteDatabase> =>
  redis.counters('a', { outbox: sqliteOutbox(OUTBOX, TARGET) })

const ofShown = {
  prepare: (counters) => counters.prepare(),
  // Without Redis nothing is shown.
  optimisticAdd: gives((counters) => counters.optimisticAdd(1)),
  get: (counters) => counters.get(1),
  getMany: (counters) => counters.getMany([1, 2]),
  flush: (counters, ending) => counters.flush({ ...ending }),
  flushEvery: gives((counters) => counters.flushEvery('20ms')),
  // The database answers without Redis.
  refused: gives((counters) => counters.refused()),
  inspect: (counters) => counters.inspect(),
  clear: (counters) => counters.clear(),
  reconcile: (counters) => counters.reconcile([1]),
} satisfies CallsOf<RowCounters>

const counters: readonly Group[] = [
  group<Counters>('Counters', stored, {
    increment: (each) => each.increment(1),
    // An error takes the place of an uncounted increment.
    incrementMany: gives((each) => each.incrementMany([{ id: 1 }, { id: 2 }])),
    get: (each) => each.get(1),
    getMany: (each) => each.getMany([1, 2]),
    flush: (each, ending) => each.flush({ ...ending }),
    flushEvery: gives((each) => each.flushEvery('20ms')),
    reconcile: (each) => each.reconcile([1]),
    refused: gives((each) => each.refused()),
    inspect: (each) => each.inspect(),
    clear: (each) => each.clear(),
  }),
  group<RowCounters>('RowCounters', derived, ofShown),
  group<OutboxCounters<SqliteDatabase>>('OutboxCounters', durable, {
    ...ofShown,
    // A first call compares the place of the outbox in Redis.
    add: async (each) => {
      await each.prepare()
      await each.add(OUTBOX, { id: 1, idempotencyKey: 'k' })
    },
  }),
]

const texts: readonly Group[] = [
  group<Autocomplete>('Autocomplete', (redis) => redis.autocomplete('a'), {
    add: (each) => each.add('text'),
    addMany: (each) => each.addMany([{ text: 'one' }, { text: 'two' }]),
    remove: (each) => each.remove('text'),
    removeMany: (each) => each.removeMany(['one', 'two']),
    suggest: (each) => each.suggest('te'),
    inspect: (each) => each.inspect(),
    clear: (each) => each.clear(),
  }),
  group<Catalog<unknown>>('Catalog', (redis) => redis.catalog('a'), {
    put: (catalog) => catalog.put('n', {}),
    get: (catalog) => catalog.get('n'),
    update: (catalog) => catalog.update('n', (document) => document),
    remove: (catalog) => catalog.remove('n'),
    list: (catalog) => catalog.list(),
  }),
]

export const values: readonly Group[] = [...caches, ...collections, ...counters, ...texts]
