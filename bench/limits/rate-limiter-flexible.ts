import type { Redis } from 'ioredis'
import { loadPeer } from '../harness/peers.ts'
import { type Contender, LIMIT, type Source, WINDOW_S } from './contender.ts'

interface Package {
  RateLimiterRedis: new (options: { storeClient: Redis; points: number; duration: number }) => Limiter
}

interface Limiter {
  consume(key: string): Promise<unknown>
}

const PEER = 'rate-limiter-flexible'

export const rateLimiterFlexible: Contender = {
  name: PEER,
  peer: PEER,
  settings: `RateLimiterRedis, points ${LIMIT}, duration ${WINDOW_S}; no insurance, no blocks in memory (as by default)`,
  async connect(storeClient: Redis): Promise<Source> {
    const { RateLimiterRedis } = loadPeer<Package>(PEER)
    const limiter = new RateLimiterRedis({ storeClient, points: LIMIT, duration: WINDOW_S })
    return { take: (subject) => limiter.consume(subject), close: async () => {} }
  },
}
