// The front of a hot prefix: what its first entries are answered as (lua/shared/autocomplete/fronts). It is read with one
// plain HGET, in which no write can fall. Whatever is unusual about it is left to the script, which tells what it is.

import type { Reply } from '../driver.ts'
import type { Unit } from '../runtime/unit.ts'
import { type Entry, readRecord } from './record.ts'

/** So many entries a front holds, for a hot prefix has more of them. */
const FRONT_PLACES = 10
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

export interface FrontQuery {
  readonly codec: string
  readonly query: string
  readonly limit: number
}

/** The first entries that match; null where only the script can tell them. Settles `by` then. */
export async function askFront(
  unit: Unit,
  pace: Pace,
  { codec, query, limit }: FrontQuery,
  by: number,
): Promise<Entry[] | null> {
  const { length } = query
  const { server, runner } = unit.runtime
  if (limit > FRONT_PLACES || server.info === null || runner.closed || !pace.isWorth(length)) return null
  const front = await readFront(unit, query, by)
  const found = front === null ? null : readRecords(front, codec, limit)
  pace.note(length, found !== null)
  return found
}

function readFront(unit: Unit, query: string, by: number): Promise<Buffer | null> {
  const { runner } = unit.runtime
  return new Promise((resolve) => {
    const settle = (front: Buffer | null): void => {
      runner.deadlines.remove(due)
      resolve(front)
    }
    const due = { by, giveUp: (): void => settle(null) }
    runner.deadlines.add(due)
    const [reply] = runner.driver.read([
      { command: 'HGET', args: [`${unit.beginning}fronts`, prefixOf(query)] },
    ])
    reply?.then(
      (front: Reply) => settle(Buffer.isBuffer(front) ? front : null),
      () => settle(null),
    )
  })
}

function prefixOf(query: string): string | Buffer {
  return query.length * 3 <= MOST_PREFIX_BYTES ? query : Buffer.from(query).subarray(0, MOST_PREFIX_BYTES)
}

function readRecords(front: Buffer, codec: string, limit: number): Entry[] | null {
  const codecTo = 2 + (front[1] ?? 0)
  if (front[0] !== LAYOUT || front.toString('utf8', 2, codecTo) !== codec) return null
  const found: Entry[] = []
  for (let at = codecTo; at < front.length && found.length < limit; ) {
    const to = at + 2 + front.readUInt16BE(at)
    found.push(readRecord(front, at + 2, to, false))
    at = to
  }
  return found
}
