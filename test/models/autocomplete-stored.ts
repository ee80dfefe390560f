// The stored data of an index, read directly and checked against the promises of the scripts.

import type { Redis } from 'ioredis'
import { checkFronts } from './autocomplete-fronts.ts'
import type { ModelEntry } from './autocomplete-model.ts'
import { checkTops, readForks, readTops } from './autocomplete-tops.ts'

/** Records by the numbers of their entries. */
export async function readEntries(client: Redis, prefix: string): Promise<Map<number, Buffer>> {
  const key = `${prefix}:entries`
  const fields = await client.hkeysBuffer(key)
  const records = fields.length === 0 ? [] : await client.hmgetBuffer(key, ...fields)
  return new Map(fields.map((field, at) => [field.readDoubleBE(0), records[at] as Buffer]))
}

/** `entries`: all that are stored, expired ones too. */
export async function checkStored(
  client: Redis,
  prefix: string,
  entries: readonly ModelEntry[],
  codec = 'json',
): Promise<void> {
  const hash = async (part: string): Promise<Map<string, Buffer>> =>
    new Map(Object.entries(await client.hgetallBuffer(`${prefix}:${part}`)))
  // The members that keep forks sorted come after all forks.
  const members = await client.zrangebylexBuffer(`${prefix}:forks`, '-', Buffer.from('(\u00ff', 'latin1'))
  const tops = readTops(await hash('tops'))
  checkTops(readForks(members), tops, entries)
  checkFronts(tops, await hash('fronts'), await readEntries(client, prefix), codec)
}

/** An entry as its record states it. */
export function entryOf(number: number, record: Buffer): ModelEntry {
  const [idBytes = 0, markedBytes = 0, textBytes = 0] = [16, 18, 20].map((at) => record.readUInt16BE(at))
  const textAt = 22 + idBytes + markedBytes
  const text = record.toString('utf8', textAt, textAt + textBytes)
  return {
    id: idBytes === 0 ? text : record.toString('utf8', 22, 22 + idBytes),
    text,
    score: 2 ** 52 - record.readDoubleBE(8),
    expiresAtMs: record.readDoubleBE(0) || Infinity,
    number,
  }
}
