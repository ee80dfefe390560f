// Two databases of one server, with the same namespace: a message published in one is received in both.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, type Perilune, perilune, type QueueEvent } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { until } from '../servers/ask.ts'

type Open = (database: number) => Promise<Driver>

const opens: [string, Open][] = [
  [
    'ioredis',
    async (db) => {
      const client = new Redis(inject('redisPort'), { db })
      onTestFinished(() => client.disconnect())
      return ioredis(client)
    },
  ],
  [
    'node-redis',
    async (db) => {
      const client = createClient({ url: `redis://127.0.0.1:${inject('redisPort')}/${db}` })
      client.on('error', () => undefined)
      await client.connect()
      onTestFinished(() => client.destroy())
      return nodeRedis(client)
    },
  ],
]

/** The names of the jobs in the events of a queue, from now on. */
function reportedOf(redis: Perilune, name: string): string[] {
  const reported: string[] = []
  const listening = new AbortController()
  onTestFinished(() => listening.abort())
  const listen = async (): Promise<void> => {
    for await (const event of redis.queue(name).events({ signal: listening.signal }))
      reported.push(nameOf(event))
  }
  listen().catch(() => undefined)
  return reported
}

function nameOf(event: QueueEvent): string {
  return 'name' in event ? event.name : event.kind
}

test.each(opens)('%s: a queue reports only its own jobs', async (_, open) => {
  const name = randomUUID()
  const [first, second] = [perilune(await open(1)), perilune(await open(2))]
  onTestFinished(async () => {
    await Promise.all([first.close(), second.close()])
  })
  const [ofFirst, ofSecond] = [reportedOf(first, name), reportedOf(second, name)]
  const heard = async (redis: Perilune, job: string, reported: string[]): Promise<void> =>
    until(`${job} is reported`, async () => {
      await redis.queue(name).enqueue(job, null)
      return reported.includes(job)
    })

  await heard(first, 'of-first', ofFirst)
  await heard(second, 'of-second', ofSecond)

  expect(new Set(ofFirst)).toEqual(new Set(['of-first']))
  expect(new Set(ofSecond)).toEqual(new Set(['of-second']))
})
