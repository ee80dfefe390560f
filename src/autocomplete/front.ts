// The front of a hot prefix: what its first entries are answered as (lua/shared/autocomplete/fronts). It is read with one
// plain HGET, in which no write can fall. Whatever is unusual about it is left to the script, which tells what it is.

import type { Reply } from '../driver.ts'
import type { Codec } from '../runtime/codec.ts'
import type { Unit } from '../runtime/unit.ts'
import { readRecord, shortAt, type Suggestion, textBetween, toPacked } from './suggestion.ts'

/** So many entries a front holds, for a hot prefix has more of them. */
export const FRONT_PLACES = 10
const MOST_PREFIX_BYTES = 64
const LAYOUT = 0x31

/** Whether fronts were missing: queries of so many characters are then asked of the script at once, for some calls. */
export class Pace {
  static readonly #PATIENCE = 4
  static readonly #PAUSE = 16
  readonly #missing = new Map<number, number>()

  isWorth(length: number): boolean {
    const missing = this.#missing.get(length) ?? 0
    if (missing < Pace.#PATIENCE) return true
    this.#missing.set(length, missing < Pace.#PATIENCE + Pace.#PAUSE ? missing + 1 : Pace.#PATIENCE - 1)
    return false
  }

  note(length: number, found: boolean): void {
    if (!found) this.#missing.set(length, (this.#missing.get(length) ?? 0) + 1)
    else if (this.#missing.size > 0) this.#missing.delete(length)
  }
}

/** Resolves to the front of a folded query; null where there is none, or no answer `by` then. */
export function readFront(unit: Unit, key: string, query: string, by: number): Promise<Buffer | null> {
  const { runner } = unit.runtime
  return new Promise((resolve) => {
    const settle = (front: Buffer | null): void => {
      runner.deadlines.remove(due)
      resolve(front)
    }
    const due = { by, giveUp: (): void => settle(null) }
    runner.deadlines.add(due)
    const [reply] = runner.driver.read([{ command: 'HGET', args: [key, prefixOf(query)] }])
    reply?.then(
      (front: Reply) => settle(Buffer.isBuffer(front) ? front : null),
      () => settle(null),
    )
  })
}

function prefixOf(query: string): string | Buffer {
  return query.length * 3 <= MOST_PREFIX_BYTES ? query : Buffer.from(query).subarray(0, MOST_PREFIX_BYTES)
}

/** The first `limit` entries of a front; null where only the script can tell them. */
export function readEntries<Payload>(
  front: Buffer,
  codec: Codec<Payload>,
  limit: number,
): Suggestion<Payload>[] | null {
  const packed = toPacked(front)
  const codecTo = 2 + (front[1] ?? 0)
  if (front[0] !== LAYOUT || textBetween(packed, 2, codecTo) !== codec.name) return null
  const found: Suggestion<Payload>[] = []
  for (let at = codecTo; at < front.length && found.length < limit; ) {
    const to = at + 2 + shortAt(front, at)
    found.push(readRecord(packed, at + 2, to, codec))
    at = to
  }
  return found
}
