// The promises of `lua/shared/autocomplete/fronts`: each top has the front of its first entries, unless one of them
// expires or they are large.

import { expect } from 'vitest'
import type { Hash, Top } from './autocomplete-tops.ts'

const FRONT_PLACES = 10
const MOST_BYTES = 4096

interface Suggested {
  readonly rank: number
  readonly id: string
  readonly text: string
  readonly payload: string
}

/** Fronts as they are stored, by tops; entries by their numbers. */
export function checkFronts(
  tops: ReadonlyMap<string, Top>,
  fronts: Hash,
  entries: ReadonlyMap<number, Buffer>,
  codec: string,
): void {
  const expected = new Map<string, Suggested[]>()
  for (const [id, top] of tops) {
    const suggested = suggestedOf(top, entries)
    expect(top.hasFront, `the front of ${id}`).toBe(suggested !== null)
    if (suggested !== null) expected.set(id, suggested)
  }
  const found = [...fronts].map(([id, front]) => [id, readFront(tops.get(id), front, codec)] as const)
  expect(new Map(found)).toEqual(expected)
}

function suggestedOf({ places }: Top, entries: ReadonlyMap<number, Buffer>): Suggested[] | null {
  const records = places.slice(0, FRONT_PLACES).map((number) => entries.get(number) ?? Buffer.of(1))
  const bytes = records.reduce((sum, record) => sum + record.length, 0)
  if (bytes > MOST_BYTES || records.some((record) => record.readUInt8(0) !== 0)) return null
  return records.map((record) => {
    const [id = 0, marked = 0, text = 0] = [16, 18, 20].map((at) => record.readUInt16BE(at))
    const textAt = 22 + id + marked
    return {
      rank: record.readDoubleBE(8),
      id: record.toString('utf8', 22, 22 + id),
      text: record.toString('utf8', textAt, textAt + text),
      payload: record.toString('utf8', textAt + text),
    }
  })
}

/** The entries of a front, after its head has been compared with its top. */
function readFront(top: Top | undefined, front: Buffer, codec: string): Suggested[] {
  const head = `2${String.fromCharCode(codec.length)}${codec}`
  expect(front.toString('latin1', 0, head.length)).toBe(head)
  const prefixes = new Map<string, number>()
  let at = head.length + 1
  for (let left = front.readUInt8(head.length); left > 0; left--) {
    const to = at + 2 + front.readUInt8(at + 1)
    prefixes.set(front.toString('latin1', at + 2, to), front.readUInt8(at))
    at = to
  }
  expect(prefixes).toEqual(top?.prefixes)
  const suggested: Suggested[] = []
  while (at < front.length) {
    const lengths = [8, 10, 12, 14].map((behind) => front.readUInt16BE(at + behind))
    const [id = 0, alike = 0, text = 0, payload = 0] = lengths
    const textAt = at + 16 + id
    const to = textAt + text + payload
    suggested.push({
      rank: front.readDoubleBE(at),
      id: front.toString('utf8', at + 16, textAt),
      text: textOf(suggested[0]?.text ?? '', alike, front.subarray(textAt, textAt + text)),
      payload: front.toString('utf8', textAt + text, to),
    })
    at = to
  }
  return suggested
}

function textOf(first: string, alike: number, rest: Buffer): string {
  return Buffer.concat([Buffer.from(first).subarray(0, alike), rest]).toString('utf8')
}
