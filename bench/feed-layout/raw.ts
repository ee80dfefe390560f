// The floor: the plain commands, which know neither life nor claims.

import type { Redis } from 'ioredis'
import { type Log, PAGE } from './contender.ts'

export function rawStream(client: Redis): Log {
  const prefix = 'raw:{stream}'
  const key = `${prefix}:log`
  return {
    prefix,
    append(bodies) {
      return Promise.all(bodies.map(async (body) => String(await client.xadd(key, '*', 'b', body))))
    },
    async page(after) {
      return (await client.xrange(key, `(${after}`, '+', 'COUNT', PAGE)).length
    },
  }
}
