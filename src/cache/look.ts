// Looking a key up: in the level of this process, where there is one; else one plain GET, and one for each of its tags, sent
// together.

import { inspect } from '../generated/cache.ts'
import { Envelope } from './envelope.ts'
import type { ServedFrom } from './events.ts'
import { fill } from './filling.ts'
import type { Level } from './level.ts'
import { judge, type Worth } from './judging.ts'
import { type Source, unitOf, valueKeyOf } from './source.ts'
import { tagBlock } from './tags.ts'

/** What is stored, as it was read. */
export interface Seen {
  /** Null when there is nothing that may be served. */
  readonly envelope: Envelope | null
  readonly worth: Worth
  /** The tags that were asked for and their generations, as the head has them. */
  readonly tags: Buffer
  /** The generation of the cache as a whole, with which they begin. */
  readonly whole: Buffer
  readonly from: ServedFrom
}

/** Rejects with DriverError when Redis does not answer within `storeWithin`. */
export function look<Value>(source: Source<Value>, key: string, tags: readonly string[]): Promise<Seen> {
  const { level } = source.shared
  return level === null ? read(source, key, tags) : lookInLevel(source, level, key, tags)
}

async function lookInLevel<Value>(
  source: Source<Value>,
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

/** What this process has a copy of, if that may be served. `now`: by `performance.now()`, which is not asked again. */
export function seenInLevel<Value>(
  source: Source<Value>,
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

/** The generation of the cache as a whole; null when that, or the time, has to be asked for. */
function wholeOf<Value>({ shared, terms, runtime }: Source<Value>, now: number): Buffer | null {
  const whole = shared.generation.known(terms.storeMs, now)
  return runtime.clock.agedAt(now) ? null : whole
}

async function read<Value>(source: Source<Value>, key: string, tags: readonly string[]): Promise<Seen> {
  const reading = source.shared.values.get(valueKeyOf(source, key), source.terms.storeMs)
  const whole = wholeOf(source, performance.now())
  if (whole === null || tags.length > 0) return readAround(source, key, tags, reading)
  return toSeen(source, await reading, { tags: whole, whole })
}

/** With all that a look may need besides: generations, and the server's time. */
async function readAround<Value>(
  source: Source<Value>,
  key: string,
  tags: readonly string[],
  reading: Promise<Buffer | null>,
): Promise<Seen> {
  const { clock } = source.runtime
  const learning = clock.agedAt(performance.now()) ? learnTime(source, key) : undefined
  // What is known serves while it is renewed.
  learning?.catch(() => undefined)
  const needed = clock.known ? undefined : learning
  const [bytes, block] = await Promise.all([reading, readBlock(source, tags), needed])
  return toSeen(source, bytes, block)
}

/** Generations, as a head has them. */
interface Block {
  readonly tags: Buffer
  readonly whole: Buffer
}

function toSeen<Value>(source: Source<Value>, bytes: Buffer | null, { tags, whole }: Block): Seen {
  const envelope = bytes === null ? null : Envelope.read(bytes)
  if (envelope === null || !envelope.hasTags(tags))
    return { envelope: null, worth: 'absent', tags, whole, from: 'redis' }
  return seenOf(source, envelope, { tags, whole }, 'redis', performance.now())
}

/** What an envelope is worth. Written out: a spread takes as long as all the rest. */
function seenOf<Value>(
  { terms, runtime }: Source<Value>,
  envelope: Envelope,
  { tags, whole }: Block,
  from: ServedFrom,
  now: number,
): Seen {
  const worth = judge(envelope, terms, runtime.clock.latestMs(now))
  return { envelope: worth === 'absent' ? null : envelope, worth, tags, whole, from }
}

/** Tells whoever counts hits and misses. */
export function tellSeen<Value>({ tell }: Source<Value>, key: string, { worth, from }: Seen): void {
  if (worth === 'absent') tell?.({ kind: 'absent', key })
  else tell?.({ kind: worth === 'stale' ? 'stale' : 'fresh', key, from })
}

/** The generations that these tags have now, as a head has them, behind that of the cache as a whole. */
export async function readTags<Value>(source: Source<Value>, tags: readonly string[]): Promise<Buffer> {
  return (await readBlock(source, tags)).tags
}

async function readBlock<Value>(source: Source<Value>, tags: readonly string[]): Promise<Block> {
  const { shared, terms } = source
  const reading = tags.map((tag) => shared.reads.get(`${source.prefixOf(tag)}:generation`, terms.storeMs))
  const [whole, ...generations] = await Promise.all([shared.generation.get(terms.storeMs), ...reading])
  if (tags.length === 0) return { tags: whole, whole }
  const named = tags.map((tag, at) => ({ tag, generation: Number(generations[at] ?? 0) }))
  return { tags: Buffer.concat([whole, tagBlock(named)]), whole }
}

/** Asks what time it is; one question at a time. */
function learnTime<Value>(source: Source<Value>, key: string): Promise<void> {
  const { shared } = source
  shared.learning ??= askTime(source, key).finally(() => {
    shared.learning = null
  })
  return shared.learning
}

async function askTime<Value>(source: Source<Value>, key: string): Promise<void> {
  const askedAt = performance.now()
  const by = askedAt + source.terms.storeMs
  const { nowMs } = await unitOf(source, key).run(inspect, {}, { by })
  source.runtime.clock.note(nowMs, askedAt)
}
