// The front of a hot prefix: its first entries in the form of an answer (lua/shared/autocomplete/fronts). One plain
// HGET reads it atomically, and the front itself lists the queries that it answers. In every unusual case the script
// answers instead, and returns the field of the front.

import type { Reply } from '../driver.ts'
import type { Codec } from '../runtime/values/codec.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'
import { PackedEntries, type Suggestion, textBetween, toPacked } from './suggestion.ts'

/** The number of entries in a front; a prefix with a front always has more entries than that. */
export const FRONT_PLACES = 10
const MOST_PREFIX_BYTES = 64
const LAYOUT = 0x32
const MOST_KNOWN = 10_000

const known = new WeakMap<Runtime, KnownFronts>()

/** The front that answered each query, shared by all handles of an instance; the oldest is dropped first. */
export class KnownFronts {
  readonly #fields = new Map<string, string>()

  static of(runtime: Runtime): KnownFronts {
    const before = known.get(runtime)
    if (before !== undefined) return before
    const fronts = new KnownFronts()
    known.set(runtime, fronts)
    return fronts
  }

  get(query: string): string | undefined {
    return this.#fields.get(query)
  }

  /** An empty field: no front answers the query. */
  set(query: string, field: string): void {
    if (field === '') {
      this.#fields.delete(query)
      return
    }
    this.#fields.set(query, field)
    for (const oldest of this.#fields.keys()) {
      if (this.#fields.size <= MOST_KNOWN) return
      this.#fields.delete(oldest)
    }
  }
}

/** Resolves to a front; null when there is none, or no answer arrives before `by`. */
export function readFront(unit: Unit, key: string, field: string, by: number): Promise<Buffer | null> {
  const { runner } = unit.runtime
  return new Promise((resolve) => {
    const settle = (front: Buffer | null): void => {
      runner.deadlines.remove(due)
      resolve(front)
    }
    const due = { by, giveUp: (): void => settle(null) }
    runner.deadlines.add(due)
    const [reply] = runner.driver.read([{ command: 'HGET', args: [key, field] }])
    reply?.then(
      (front: Reply) => settle(Buffer.isBuffer(front) ? front : null),
      () => settle(null),
    )
  })
}

/** The first `limit` entries of a front; null when only the script can answer. */
export function readEntries<Payload>(
  front: Buffer,
  query: string,
  codec: Codec<Payload>,
  limit: number,
): Suggestion<Payload>[] | null {
  const packed = toPacked(front)
  const codecTo = 2 + (front[1] ?? 0)
  if (front[0] !== LAYOUT || textBetween(packed, 2, codecTo) !== codec.name) return null
  const prefix = prefixOf(query)
  let [at, isAnswered] = [codecTo + 1, false]
  for (let left = front[codecTo] ?? 0; left > 0; left--) {
    const [least = 0, length = 0] = [front[at], front[at + 1]]
    isAnswered ||=
      prefix.length >= least && prefix.length <= length && packed.latin.startsWith(prefix, at + 2)
    at += 2 + length
  }
  if (!isAnswered) return null
  const entries = new PackedEntries(packed, at, codec)
  const found: Suggestion<Payload>[] = []
  while (found.length < limit && !entries.ended) found.push(entries.next())
  return found
}

/** The significant prefix of a query, one character per byte. */
function prefixOf(query: string): string {
  for (let at = 0; at < query.length; at++) {
    if (query.charCodeAt(at) > 0x7f) return Buffer.from(query).toString('latin1', 0, MOST_PREFIX_BYTES)
  }
  return query.length > MOST_PREFIX_BYTES ? query.slice(0, MOST_PREFIX_BYTES) : query
}
