// Members of a guild, suggested while they join and leave:
//   npx tsx examples/autocomplete/guild.ts 7 @jo
// Without a query it suggests `@jo`. Who has not been seen for an hour is not suggested any more.

import { Redis } from 'ioredis'
import { type Autocomplete, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

interface Member {
  guildRank: string
}

const NAMES = ['@joan', '@jochen', '@José', '@jolanta', '@john', '@jane', '@ada', '@jörg']

async function join(members: Autocomplete<Member>, name: string, messages: number): Promise<void> {
  const payload = { guildRank: messages > 50 ? 'veteran' : 'member' }
  // Who writes much comes first.
  await members.add(name, { score: messages, payload, ttl: '1h' })
}

async function show(members: Autocomplete<Member>, query: string, when: string): Promise<void> {
  const suggestions = await members.suggest(query, { limit: 5 })
  const names = suggestions.map(({ text, payload }) => `${text} (${payload?.guildRank})`)
  console.log(`${when}, ${query}: ${names.join(', ') || 'no one'}`)
}

const [guild = '7', query = '@jo'] = process.argv.slice(2)
const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const members = redis.autocomplete<Member>(`guild:${guild}`)

await members.clear()
for (const [at, name] of NAMES.entries()) await join(members, name, (at * 37) % 90)
await show(members, query, 'all are here')
await members.removeMany(['@john', '@José'])
await show(members, query, 'two have left')
await join(members, '@joshua', 99)
await show(members, query, 'one has come')

await redis.close()
client.disconnect()
