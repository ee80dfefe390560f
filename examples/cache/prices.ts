// Prices that are slow to ask for, served from a cache:
//   npx tsx examples/cache/prices.ts 5
// Start it in several terminals at once: one of them asks at a time, and all of them get the price.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

async function askTheShop(): Promise<number> {
  console.log(`process ${process.pid} asks for the price …`)
  await sleep(300)
  return Math.round(Math.random() * 100)
}

const seconds = Number(process.argv[2] ?? '5')
const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const prices = redis.cache<number>('prices', { ttl: '2s', staleWhileRevalidate: '1m' })

for (const endsAt = Date.now() + seconds * 1000; Date.now() < endsAt; ) {
  const price = await prices.get('book', askTheShop)
  console.log(`the book costs ${price}`)
  await sleep(250)
}
await redis.close()
client.disconnect()
