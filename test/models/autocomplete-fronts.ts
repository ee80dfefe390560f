// What `lua/shared/autocomplete/fronts` promises: each hot prefix has the front that its first entries make, unless one of
// them expires.

import { expect } from 'vitest'

type Hash = readonly (readonly [field: Buffer, value: Buffer])[]

const FRONT_PLACES = 10
const PLACE_BYTES = 16
const HEAD = Buffer.from('1\u0004json')

/** All three as they are stored. */
export function checkFronts(tops: Hash, fronts: Hash, entries: Hash): void {
  const records = new Map(entries.map(([field, record]) => [field.toString('hex'), record]))
  const expected = new Map<string, string>()
  for (const [prefix, list] of tops) {
    const front = frontOf(list, records)
    if (front !== null) expected.set(String(prefix), front.toString('hex'))
  }
  expect(new Map(fronts.map(([prefix, front]) => [String(prefix), front.toString('hex')]))).toEqual(expected)
}

function frontOf(list: Buffer, records: ReadonlyMap<string, Buffer>): Buffer | null {
  const parts: Buffer[] = [HEAD]
  for (let at = 1; at < Math.min(list.length, 1 + FRONT_PLACES * PLACE_BYTES); at += PLACE_BYTES) {
    const record = records.get(list.toString('hex', at + 8, at + PLACE_BYTES)) ?? Buffer.of(1)
    if (record.readUInt8(0) !== 0) return null
    parts.push(Buffer.of(record.length >> 8, record.length & 255), record)
  }
  return Buffer.concat(parts)
}
