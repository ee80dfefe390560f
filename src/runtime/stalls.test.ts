// A process that does nothing else for longer than a deadline: long work of its user, or of the garbage collector.

import { Redis } from 'ioredis'
import { type Driver, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { expect, inject, onTestFinished, test } from 'vitest'

const DEADLINE_MS = 2000

function openIoredis(): Driver {
  const client = new Redis(inject('redisPort'))
  onTestFinished(() => client.disconnect())
  return ioredis(client)
}

async function openNodeRedis(): Promise<Driver> {
  const client = await createClient({ url: `redis://127.0.0.1:${inject('redisPort')}` }).connect()
  onTestFinished(() => client.destroy())
  return nodeRedis(client)
}

function standStill(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test.each([
  ['ioredis', openIoredis],
  ['node-redis', openNodeRedis],
])('%s: what is answered while the process stands still is no outage', async (client, open) => {
  const redis = perilune(await open(), { namespace: 'stalls', deadline: `${DEADLINE_MS}ms` })
  const limit = redis.rateLimit(client, { limit: 1, window: '1h', onOutage: 'fail-open' })
  await limit.clear('ada')
  expect((await limit.take('ada')).allowed).toBe(true)

  const taking = limit.take('ada')
  // Until it is sent: node-redis gathers what is sent in one turn.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  standStill(DEADLINE_MS + 500)

  expect((await taking).allowed).toBe(false)
  await redis.close()
})
