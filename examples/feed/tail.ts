// Follows the chat room without being in it, from the first message or from a cursor:
//   npx tsx examples/feed/tail.ts
//   npx tsx examples/feed/tail.ts 1763670000000000-1763670000123456

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

interface Note {
  from: string
  text: string
}

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
const redis = perilune(ioredis(client), { namespace: 'example' })
const stopping = new AbortController()
process.once('SIGINT', () => stopping.abort())

const [, , after] = process.argv
const options = { signal: stopping.signal, ...(after === undefined ? {} : { after }) }
try {
  for await (const message of redis.feed<Note>('chat').tail(options)) {
    if (message.lostBefore !== null) console.log(`… ${message.lostBefore}: messages are missing here`)
    console.log(`${message.cursor} ${message.body.from}: ${message.body.text}`)
  }
} catch (error) {
  if (!stopping.signal.aborted) throw error
} finally {
  await redis.close()
  client.disconnect()
}
