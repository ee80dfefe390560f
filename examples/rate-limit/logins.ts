// Five attempts a minute for each name. In a terminal:
//   npx tsx examples/rate-limit/logins.ts
// Write a name a line; try one of them six times. A right password gives its attempt back.

import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { type Allowed, type Denied, perilune, type RateLimit, rateLimitHeaders } from 'perilune'
import { ioredis } from 'perilune/ioredis'

type Logins = RateLimit<Allowed | Denied>

async function attempt(logins: Logins, name: string, password: string): Promise<string> {
  const decision = await logins.take(name)
  if (!decision.allowed) {
    return `429 for ${name}: ${JSON.stringify(rateLimitHeaders(decision))}`
  }
  if (password !== 'moon') return `401 for ${name}: ${decision.remaining} attempts left`
  await logins.refund(name, { token: decision.token })
  return `200 for ${name}: welcome`
}

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
await using redis = perilune(ioredis(client), { namespace: 'example' })
const logins = redis.rateLimit('login', { limit: 5, window: '1m' })

console.log('write "<name> <password>"; the password is moon; leave with Ctrl-D')
for await (const line of createInterface({ input: process.stdin })) {
  const [name = '', password = ''] = line.split(' ')
  if (name !== '') console.log(await attempt(logins, name, password))
}
client.disconnect()
