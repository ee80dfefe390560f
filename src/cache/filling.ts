// How a value that was read comes into the level of this process.

import { hold } from '../generated/cache.ts'
import type { Envelope } from './envelope.ts'
import type { Level } from './level.ts'
import type { Reading } from './place.ts'
import { type Source, unitOf } from './source.ts'
import { generationsIn } from './tags.ts'

/** What was read: a value, and the generations that count for it. */
interface WasRead {
  readonly envelope: Envelope | null
  readonly tags: Buffer
  readonly whole: Buffer
}

/** Keeps what was seen. The first level that wants a value has Redis say in it that it is held. */
export async function fill<Value>(
  source: Source<Value>,
  level: Level,
  reading: Reading,
  { envelope, tags, whole }: WasRead,
): Promise<void> {
  if (envelope === null || !(envelope.held || (await askToHold(source, reading, envelope.token)))) return
  const { askedAt } = reading
  level.keep(reading, { envelope, block: tags, generations: generationsIn(tags), whole, askedAt })
}

/** Does not reject: a value that cannot be said to be held is not kept. */
async function askToHold<Value>(source: Source<Value>, { place }: Reading, token: number): Promise<boolean> {
  if (place.asks) return false
  place.asks = true
  try {
    const { status } = await unitOf(source, place.key).run(hold, { token })
    return status === 'held'
  } catch {
    return false
  } finally {
    place.asks = false
  }
}
