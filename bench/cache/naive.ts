// What most programs do. Its hit is the floor: no cache in Redis can do less.

import { Redis } from 'ioredis'
import { type Contender, type Entry, leftMs, type Source, type Terms } from './contender.ts'

export const naive: Contender = {
  name: 'GET, else load and SET',
  settings: 'the floor of a hit, and the naive cache; JSON, auto-pipelining on, nothing against a stampede',
  async connect(port: number, { freshMs }: Terms): Promise<Source> {
    const client = new Redis({ port, enableAutoPipelining: true })
    const keep = async (key: string, value: Entry, ms: number): Promise<Entry> => {
      await client.set(`naive:${key}`, JSON.stringify(value), 'PX', ms)
      return value
    }
    return {
      async get(key, load) {
        const text = await client.get(`naive:${key}`)
        if (text === null) return keep(key, await load(), freshMs)
        const value: Entry = JSON.parse(text)
        return value
      },
      fill: async (key, load, endsAtMs) => keep(key, await load(), leftMs(endsAtMs)),
      close: async () => client.disconnect(),
    }
  },
}
