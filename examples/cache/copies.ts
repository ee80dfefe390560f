// Opening hours that appear on every page, kept in each process: showing them needs no request.
//   npx tsx examples/cache/copies.ts show 60
//   npx tsx examples/cache/copies.ts change '10 to 16'   # meanwhile, in another terminal

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

const [what, argument = '60'] = process.argv.slice(2)
const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const servedFrom = { process: 0, redis: 0 }
const hours = redis.cache<string>('opening-hours', {
  ttl: '1h',
  // At most ten copies, one mebibyte of them, and none that is older than a minute.
  l1: { count: 10, bytes: 1024 * 1024, age: '1m' },
  hooks: {
    event: (happened) => {
      if ('from' in happened) servedFrom[happened.from] += 1
    },
  },
})

// Stands for the database that is slow to ask.
async function askTheDatabase(): Promise<string> {
  await sleep(200)
  return (await client.get('example:database:opening-hours')) ?? '9 to 17'
}

async function change(to: string): Promise<void> {
  await client.set('example:database:opening-hours', to)
  await hours.invalidate('shop')
  console.log(`changed to ${to}`)
}

async function show(seconds: number): Promise<void> {
  let shown = ''
  let endsAt = Date.now() + seconds * 1000
  process.once('SIGINT', () => (endsAt = 0))
  for (; Date.now() < endsAt; await sleep(1)) {
    const open = await hours.get('shop', askTheDatabase)
    if (open !== shown) console.log(`open ${open}`)
    shown = open
  }
  console.log(`answered ${servedFrom.process} times from this process, ${servedFrom.redis} times from Redis`)
}

await (what === 'change' ? change(argument) : show(Number(argument)))
await redis.close()
client.disconnect()
