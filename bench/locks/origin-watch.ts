// Our port of the lock of Redis in Action, chapter 6.2: SETNX and EXPIRE to take it, a TTL mended by those
// who find it missing, WATCH, MULTI and EXEC to give it back.

import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import type { Contender, Source, Terms } from './contender.ts'
import { Poller } from './poller.ts'

/** A key without a life has a negative TTL. */
const NO_LIFE = -1

export const originWatch: Contender = {
  name: 'origin, WATCH',
  settings: 'SETNX, EXPIRE, else TTL; WATCH, GET, MULTI, DEL, EXEC; a try each millisecond',
  ownConnection: true,
  async connect(connection: Redis, terms: Terms): Promise<Source> {
    return { client: () => openClient(connection, terms), close: async () => {} }
  },
}

/** A watch belongs to a connection: no other client may use this one. */
export function openClient(connection: Redis, terms: Terms): Poller {
  const key = `lock:${terms.name}`
  const lifeS = Math.ceil(terms.leaseMs / 1000)
  const attempt = async (): Promise<(() => Promise<unknown>) | null> => {
    const owner = randomUUID()
    if ((await connection.setnx(key, owner)) === 1) {
      await connection.expire(key, lifeS)
      return () => release(connection, key, owner)
    }
    if ((await connection.ttl(key)) === NO_LIFE) await connection.expire(key, lifeS)
    return null
  }
  return new Poller(attempt, terms)
}

/** Resolves to false when the lock is another's by now. */
async function release(connection: Redis, key: string, owner: string): Promise<boolean> {
  for (;;) {
    await connection.watch(key)
    if ((await connection.get(key)) !== owner) {
      await connection.unwatch()
      return false
    }
    const done = await connection.multi().del(key).exec()
    if (done !== null) return true
  }
}
