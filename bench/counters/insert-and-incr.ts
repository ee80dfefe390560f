// The least that keeps votes and counts them in Redis: nothing is written back, nothing is safe to repeat.

import { Redis } from 'ioredis'
import type { Contender } from './contender.ts'

export const insertAndIncr: Contender = {
  name: 'INSERT and INCR',
  settings:
    'the floor of counting in Redis: INSERT the vote, then INCR, auto-pipelined; no count ever reaches SQL',
  async open({ database, redisPort, name, votes }) {
    const client = new Redis(redisPort, { enableAutoPipelining: true })
    const insert = `INSERT INTO ${votes} (voter, item) VALUES (?, ?)`
    return {
      vote: async (voter, item) => {
        await database.run(insert, [voter, item])
        await client.incr(`${name}:${item}`)
      },
      counts: null,
      close: async () => client.disconnect(),
    }
  },
}
