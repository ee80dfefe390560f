// Shows who renders and who waits, and changes how many may:
//   npx tsx examples/semaphore/limit.ts       looks
//   npx tsx examples/semaphore/limit.ts 8     sets the limit for all processes

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

async function show(limit: string | undefined): Promise<void> {
  const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
  await using redis = perilune(ioredis(client), { namespace: 'example' })
  const renders = redis.semaphore('renders', { limit: 4 })
  if (limit !== undefined) await renders.resize(Number(limit))

  const seen = await renders.inspect()
  console.log(`${seen.used} of ${seen.limit} in use, ${seen.waiting} waiting`)
  for (const { holder, weight } of seen.permits) console.log(`  ${holder} has ${weight}`)
  client.disconnect()
}

await show(process.argv[2])
