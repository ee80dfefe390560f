// Looking a key up: one plain GET, and one for each of its tags, sent together.

import { inspect } from '../generated/cache.ts'
import { Envelope } from './envelope.ts'
import { judge, type Worth } from './judging.ts'
import { prefixOf, type Source, unitOf } from './source.ts'
import { tagBlock } from './tags.ts'

/** What is stored, as it was read. */
export interface Seen {
  /** Null when there is nothing that may be served. */
  readonly envelope: Envelope | null
  readonly worth: Worth
  /** The tags that were asked for and their generations, as the head has them. */
  readonly tags: Buffer
}

const NO_BLOCK = Buffer.alloc(0)

/** Rejects with DriverError when Redis does not answer within `storeWithin`. */
export async function look<Value>(
  source: Source<Value>,
  key: string,
  tags: readonly string[],
): Promise<Seen> {
  const { clock } = source.runtime
  const reading = source.shared.reads.get(`${prefixOf(source, key)}:value`, source.terms.storeMs)
  if (tags.length > 0 || clock.aged) return lookAround(source, key, tags, reading)
  return toSeen(source, await reading, NO_BLOCK)
}

/** With all that a look may need besides: generations, and the server's time. */
async function lookAround<Value>(
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
  const [bytes, block] = await Promise.all([reading, readTags(source, tags), needed])
  return toSeen(source, bytes, block)
}

/** What bytes that were read are worth. */
export function toSeen<Value>(source: Source<Value>, bytes: Buffer | null, tags: Buffer): Seen {
  if (bytes === null) return { envelope: null, worth: 'absent', tags }
  const envelope = new Envelope(bytes)
  if (!envelope.hasTags(tags)) return { envelope: null, worth: 'absent', tags }
  const worth = judge(envelope, source.terms, source.runtime.clock.latestMs())
  return { envelope: worth === 'absent' ? null : envelope, worth, tags }
}

/** The generations that these tags have now, as a head has them. */
export async function readTags<Value>(source: Source<Value>, tags: readonly string[]): Promise<Buffer> {
  if (tags.length === 0) return NO_BLOCK
  const { reads } = source.shared
  const generations = await Promise.all(
    tags.map((tag) => reads.get(`${prefixOf(source, tag)}:generation`, source.terms.storeMs)),
  )
  return tagBlock(tags.map((tag, at) => ({ tag, generation: Number(generations[at] ?? 0) })))
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
