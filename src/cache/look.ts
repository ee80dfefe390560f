// Reads the state of a key without loading it, for a get, `getEntry` or `inspect`. A look asks the L1 of this
// process, if there is one. Otherwise it is one plain GET, and one for each tag, sent together.

import { hold, inspect } from '../generated/cache.ts'
import { ageOf, Envelope, judge, PAYLOAD, type Worth } from './envelope.ts'
import type { Level, LevelRead } from './level.ts'
import type { ServedFrom } from './options.ts'
import { type CacheSource, UNDECODABLE } from './source.ts'
import { type Generations, generationsIn, tagsIn } from './tags.ts'

/** The stored value as read. */
export interface Seen extends Generations {
  /** Null when no value may be served. */
  readonly envelope: Envelope | null
  readonly worth: Worth
  readonly from: ServedFrom
}

/** A cached value. */
export interface FoundValue<Value> {
  readonly value: Value
  /** False when the value is stale. */
  readonly fresh: boolean
  /** The age in milliseconds, by the server's clock as this process knows it. */
  readonly ageMs: number
  /** When the value was stored, in milliseconds of the server's clock, like the other times. */
  readonly createdAtMs: number
  readonly freshUntilMs: number
  readonly staleUntilMs: number
}

/** The state of a key when it was read, for monitoring: it may be outdated when it arrives. */
export interface CacheInspection {
  readonly state: 'fresh' | 'stale' | 'absent'
  /** When the value was stored, in milliseconds of the server's clock; null when absent, like the other times. */
  readonly createdAtMs: number | null
  /** The duration of its load in milliseconds; 0 for a value that was set. */
  readonly loadMs: number | null
  readonly freshUntilMs: number | null
  readonly staleUntilMs: number | null
  /** The greatest known version; null without one. */
  readonly version: number | null
  /** True when the loader found no value (`null` or `undefined`). */
  readonly negative: boolean
  /** The size of head and payload in bytes. */
  readonly bytes: number
  /** The name of the codec of the value; null when absent. */
  readonly codec: string | null
  /** The tags of the value. */
  readonly tags: readonly string[]
  /** The load under way; null without one. */
  readonly load: { readonly token: number; readonly expiresAtMs: number } | null
}

/** Rejects with DriverError when Redis does not answer within `storeWithin`. */
export function look<Value>(source: CacheSource<Value>, key: string, tags: readonly string[]): Promise<Seen> {
  const { level } = source.shared
  return level === null ? read(source, key, tags) : lookInLevel(source, level, key, tags)
}

async function lookInLevel<Value>(
  source: CacheSource<Value>,
  level: Level,
  key: string,
  tags: readonly string[],
): Promise<Seen> {
  const kept = seenInLevel(source, key, tags, performance.now())
  if (kept !== null) return kept
  const reading = level.begin(key, tags)
  const seen = await read(source, key, tags)
  if (reading !== null) void fill(source, level, reading, seen)
  return seen
}

/** The copy in the L1, if it may be served. `now`: by `performance.now()`, passed in to save a call. */
export function seenInLevel<Value>(
  source: CacheSource<Value>,
  key: string,
  tags: readonly string[],
  now: number,
): Seen | null {
  const { level } = source.shared
  const whole = level === null || source.runtime.runner.closed ? null : wholeOf(source, now)
  if (level === null || whole === null) return null
  const copy = level.find(key, tags, whole, now)
  if (copy === null) return null
  const seen = seenOf(source, copy.envelope, { tags: copy.block, whole }, 'process', now)
  return seen.envelope === null ? null : seen
}

/** Keeps the value that was read in the L1. The first L1 that keeps a value has Redis flag it as held. */
async function fill<Value>(
  source: CacheSource<Value>,
  level: Level,
  reading: LevelRead,
  { envelope, tags, whole }: Seen,
): Promise<void> {
  if (envelope === null || !(envelope.held || (await askToHold(source, reading, envelope.token)))) return
  const { askedAt } = reading
  level.keep(reading, { envelope, block: tags, generations: generationsIn(tags), whole, askedAt })
}

/** Does not reject: a value that cannot be flagged as held is not kept. */
async function askToHold<Value>(
  source: CacheSource<Value>,
  { place }: LevelRead,
  token: number,
): Promise<boolean> {
  if (place.asks) return false
  place.asks = true
  try {
    const { status } = await source.unitOf(place.key).run(hold, { token })
    return status === 'held'
  } catch {
    return false
  } finally {
    place.asks = false
  }
}

/** The generation of the whole cache; null when the generation or the server's time must be read. */
function wholeOf<Value>({ shared, terms, runtime }: CacheSource<Value>, now: number): Buffer | null {
  const whole = shared.generation.known(terms.storeMs, now)
  return runtime.clock.agedAt(now) ? null : whole
}

async function read<Value>(source: CacheSource<Value>, key: string, tags: readonly string[]): Promise<Seen> {
  const reading = source.shared.reads.getValue(source.valueKeyOf(key), source.terms.storeMs)
  const whole = wholeOf(source, performance.now())
  if (whole === null || tags.length > 0) return readAround(source, key, tags, reading)
  return toSeen(source, await reading, { tags: whole, whole })
}

/** Reads the value with everything else that a look may need: generations and the server's time. */
async function readAround<Value>(
  source: CacheSource<Value>,
  key: string,
  tags: readonly string[],
  reading: Promise<Buffer | null>,
): Promise<Seen> {
  const { clock } = source.runtime
  const learning = clock.agedAt(performance.now()) ? learnTime(source, key) : undefined
  // The known values are used while they are refreshed.
  learning?.catch(() => undefined)
  const needed = clock.known ? undefined : learning
  const [bytes, generations] = await Promise.all([reading, source.readGenerations(tags), needed])
  return toSeen(source, bytes, generations)
}

/** Reads the server's time, one request at a time. */
function learnTime<Value>(source: CacheSource<Value>, key: string): Promise<void> {
  const { shared } = source
  shared.learning ??= askTime(source, key).finally(() => {
    shared.learning = null
  })
  return shared.learning
}

async function askTime<Value>(source: CacheSource<Value>, key: string): Promise<void> {
  const askedAt = performance.now()
  const by = askedAt + source.terms.storeMs
  const { nowMs } = await source.unitOf(key).run(inspect, {}, { by })
  source.runtime.clock.note(nowMs, askedAt)
}

function toSeen<Value>(source: CacheSource<Value>, bytes: Buffer | null, { tags, whole }: Generations): Seen {
  const envelope = bytes === null ? null : Envelope.read(bytes)
  if (envelope === null || !envelope.hasTags(tags))
    return { envelope: null, worth: 'absent', tags, whole, from: 'redis' }
  return seenOf(source, envelope, { tags, whole }, 'redis', performance.now())
}

/** The freshness of an envelope. Written without a spread, which would take as long as everything else. */
function seenOf<Value>(
  { terms, runtime }: CacheSource<Value>,
  envelope: Envelope,
  { tags, whole }: Generations,
  from: ServedFrom,
  now: number,
): Seen {
  const worth = judge(envelope, terms, runtime.clock.latestMs(now))
  return { envelope: worth === 'absent' ? null : envelope, worth, tags, whole, from }
}

/** Null when no value may be served, or it cannot be decoded. */
export async function findValue<Value>(
  source: CacheSource<Value>,
  key: string,
): Promise<FoundValue<Value> | null> {
  // Reads the server's time when it is unknown or was read long ago.
  if (source.runtime.clock.agedAt(performance.now())) await look(source, key, [])
  const bytes = await source.shared.reads.getValue(source.valueKeyOf(key), source.terms.storeMs)
  const envelope = bytes === null ? null : Envelope.read(bytes)
  if (envelope === null) return null
  const nowMs = source.runtime.clock.latestMs()
  const worth = judge(envelope, source.terms, nowMs)
  if (worth === 'absent') return null
  const { tags } = await source.readGenerations(tagsIn(envelope.tags))
  return envelope.hasTags(tags) ? toFound(source, key, envelope, worth, nowMs) : null
}

/** Null when it cannot be decoded. */
export function toFound<Value>(
  source: CacheSource<Value>,
  key: string,
  envelope: Envelope,
  worth: Worth,
  nowMs: number,
): FoundValue<Value> | null {
  const { createdAtMs, freshUntilMs, staleUntilMs } = envelope
  const value = source.decode(key, envelope)
  if (value === UNDECODABLE) return null
  const ageMs = ageOf(envelope, nowMs)
  return { value, fresh: worth !== 'stale', ageMs, createdAtMs, freshUntilMs, staleUntilMs }
}

export async function inspectKey<Value>(source: CacheSource<Value>, key: string): Promise<CacheInspection> {
  const answer = await source.unitOf(key).run(inspect, {})
  const { state, flags, bytes, loading } = answer
  const isThere = state !== 'absent'
  const there = <Field>(field: Field): Field | null => (isThere ? field : null)
  return {
    state: state as CacheInspection['state'],
    createdAtMs: there(answer.createdAtMs),
    loadMs: there(answer.loadMs),
    freshUntilMs: there(answer.freshUntilMs),
    staleUntilMs: there(answer.staleUntilMs),
    version: answer.version === 0 ? null : answer.version,
    negative: flags !== PAYLOAD,
    bytes,
    codec: there(answer.codec),
    tags: tagsIn(Buffer.from(answer.tags)),
    load: loading === 0 ? null : { token: loading, expiresAtMs: answer.leaseEndsMs },
  }
}
