// The second way of the origin: a second copy that lives longer. The reader that finds the value expired puts the copy
// in its place for a while, and loads; the others get the copy.

import { Redis } from 'ioredis'
import { type Contender, type Entry, leftMs, type Source, type Terms } from './contender.ts'

const LONGER_MS = 10_000
/** Until another one loads, if the first does not come back. */
const LENT_MS = 10_000

export const doubleEntry: Contender = {
  name: 'double entry',
  settings: `a second copy for ${LONGER_MS / 1000} s more; the reader that finds the value expired gives the copy to the others for up to ${LENT_MS / 1000} s, and waits for its own load`,
  async connect(port: number, { freshMs }: Terms): Promise<Source> {
    const client = new Redis({ port, enableAutoPipelining: true })
    const keep = async (key: string, value: Entry, ms: number): Promise<Entry> => {
      const [entry, copy] = keysOf(key)
      const text = JSON.stringify(value)
      await Promise.all([client.set(entry, text, 'PX', ms), client.set(copy, text, 'PX', ms + LONGER_MS)])
      return value
    }
    return {
      async get(key, load) {
        const [entry, copy] = keysOf(key)
        const text = (await client.get(entry)) ?? (await promote(client, entry, copy))
        if (text === null) return keep(key, await load(), freshMs)
        const value: Entry = JSON.parse(text)
        return value
      },
      fill: async (key, load, endsAtMs) => keep(key, await load(), leftMs(endsAtMs)),
      close: async () => client.disconnect(),
    }
  },
}

/** The copy; null for the one who loads. */
async function promote(client: Redis, entry: string, copy: string): Promise<string | null> {
  const text = await client.get(copy)
  if (text === null) return null
  const first = await client.set(entry, text, 'PX', LENT_MS, 'NX')
  return first === null ? text : null
}

function keysOf(key: string): [string, string] {
  return [`double:{${key}}:entry`, `double:{${key}}:copy`]
}
