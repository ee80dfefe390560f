// Looking a key up: in the level of this process, where there is one; else one plain GET, and one for each of its tags, sent
// together.

import { inspect } from '../generated/cache.ts'
import { Envelope } from './envelope.ts'
import type { ServedFrom } from './events.ts'
import { fill } from './filling.ts'
import type { Level } from './level.ts'
import { judge, type Worth } from './judging.ts'
import type { Copy } from './place.ts'
import { prefixOf, type Source, unitOf, valueKeyOf } from './source.ts'
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
  const { shared, terms, runtime } = source
  const valueKey = valueKeyOf(source, key)
  const known = shared.generation.known(terms.storeMs)
  const whole = runtime.clock.aged ? null : known
  if (shared.level === null) return read(source, key, tags, { valueKey, whole })
  return lookInLevel(source, shared.level, { key, valueKey, tags, whole })
}

async function lookInLevel<Value>(
  source: Source<Value>,
  level: Level,
  {
    key,
    valueKey,
    tags,
    whole,
  }: { key: string; valueKey: string; tags: readonly string[]; whole: Buffer | null },
): Promise<Seen> {
  const isOver = whole === null || source.runtime.runner.closed
  const copy = isOver ? null : level.find(valueKey, tags, whole)
  const kept = copy === null ? null : ofCopy(source, copy)
  if (kept !== null && kept.envelope !== null) return kept
  const reading = level.begin(key, valueKey, tags)
  const seen = await read(source, key, tags, { valueKey, whole })
  if (reading !== null) void fill(source, level, reading, seen)
  return seen
}

function ofCopy<Value>(source: Source<Value>, { envelope, block, whole }: Copy): Seen {
  return seenOf(source, envelope, { tags: block, whole, from: 'process' })
}

/** `whole`: null when more than the value may be needed. */
async function read<Value>(
  source: Source<Value>,
  key: string,
  tags: readonly string[],
  { valueKey, whole }: { valueKey: string; whole: Buffer | null },
): Promise<Seen> {
  const reading = source.shared.reads.get(valueKey, source.terms.storeMs)
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
  const learning = clock.aged ? learnTime(source, key) : undefined
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

function toSeen<Value>(source: Source<Value>, bytes: Buffer | null, block: Block): Seen {
  const envelope = bytes === null ? null : new Envelope(bytes)
  return seenOf(source, envelope, { ...block, from: 'redis' })
}

/** What an envelope is worth. */
function seenOf<Value>(
  source: Source<Value>,
  envelope: Envelope | null,
  how: Block & { from: ServedFrom },
): Seen {
  if (envelope === null || !envelope.hasTags(how.tags)) return { envelope: null, worth: 'absent', ...how }
  const worth = judge(envelope, source.terms, source.runtime.clock.latestMs())
  return { envelope: worth === 'absent' ? null : envelope, worth, ...how }
}

/** The generations that these tags have now, as a head has them, behind that of the cache as a whole. */
export async function readTags<Value>(source: Source<Value>, tags: readonly string[]): Promise<Buffer> {
  return (await readBlock(source, tags)).tags
}

async function readBlock<Value>(source: Source<Value>, tags: readonly string[]): Promise<Block> {
  const { shared, terms } = source
  const reading = tags.map((tag) => shared.reads.get(`${prefixOf(source, tag)}:generation`, terms.storeMs))
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
