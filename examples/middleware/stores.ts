// What the three services share: who may ask how often, which requests have been answered, and what is kept.

import { Redis } from 'ioredis'
import { type Cache, type Once, perilune, type RateLimit } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import type { KeptResponse, StoredResponse } from 'perilune/middleware'

export const HOST = '127.0.0.1'
export const PORT: number = Number(process.env['PORT'] ?? 3000)

export function tellWhere(): void {
  console.log(`listening on http://${HOST}:${PORT}/orders; leave with Ctrl-C`)
}

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })

export const orders: Once<StoredResponse> = redis.once<StoredResponse>('orders', { resultTtl: '1h' })
export const limiter: RateLimit = redis.rateLimit('orders', {
  limit: 10,
  window: '1m',
  onOutage: 'fail-open',
})
export const pages: Cache<KeptResponse> = redis.cache<KeptResponse>('pages', {
  ttl: '10s',
  staleWhileRevalidate: '1m',
})
