// A chat room. In two terminals:
//   npx tsx examples/feed/chat.ts ada
//   npx tsx examples/feed/chat.ts bob
// Everybody sees what the others wrote, and after a break what was missed.

import { createInterface } from 'node:readline'
import { Redis } from 'ioredis'
import { type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'

interface Note {
  from: string
  text: string
}

/** Prints what the others write; the server keeps how far this reader has come. */
async function listen(room: Feed<Note>, name: string, signal: AbortSignal): Promise<void> {
  const reader = room.subscriber(name)
  try {
    for await (const message of reader.read({ echo: false, signal })) {
      console.log(`${message.body.from}: ${message.body.text}`)
      await reader.commit(message.cursor)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

async function speak(room: Feed<Note>, name: string): Promise<void> {
  for await (const text of createInterface({ input: process.stdin })) {
    if (text !== '') await room.append({ from: name, text })
  }
}

async function chat(name: string): Promise<void> {
  const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
  await using redis = perilune(ioredis(client), { namespace: 'example' })
  const room = redis.feed<Note>('chat', { origin: name, ttl: '1d', retention: 1000 })
  const leaving = new AbortController()
  const listening = listen(room, name, leaving.signal)

  console.log(`you are ${name}; write a line, leave with Ctrl-D`)
  await speak(room, name)
  leaving.abort()
  await listening
  client.disconnect()
}

const name = process.argv[2]
if (name === undefined) {
  console.error('say who you are: npx tsx examples/feed/chat.ts ada')
  process.exit(2)
}
await chat(name)
