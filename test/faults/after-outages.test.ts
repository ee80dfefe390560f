// After an outage, what is free goes to current waiters; callers that gave up during the outage keep nothing.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'

test.each(['lock', 'semaphore'] as const)(
  'requests of callers that gave up, read late by a server that stood still, block no %s',
  { timeout: 60_000 },
  async (kind) => {
    const server = await startRedis()
    const client = new Redis(server.port)
    const redis = perilune(ioredis(client), { deadline: '300ms' })
    onTestFinished(async () => {
      await redis.close()
      client.disconnect()
      await server.stop()
    })
    const of = (lease: '1s' | '10m') =>
      kind === 'lock' ? redis.lock('a', { lease }) : redis.semaphore('a', { limit: 1, lease })
    await of('1s').acquireDetached()
    process.kill(server.pid, 'SIGSTOP')
    const gaveUp = of('10m').acquire({ wait: '30s' })
    await expect(gaveUp).rejects.toMatchObject({ code: 'ambiguous' })
    await sleep(6000)

    process.kill(server.pid, 'SIGCONT')

    const lease = await of('10m').acquire({ wait: '6s' })
    expect(lease.remainingMs).toBeGreaterThan(500_000)
  },
)

test('takes of callers that gave up, read late by a server that stood still, use up no limit', {
  timeout: 60_000,
}, async () => {
  const server = await startRedis()
  const client = new Redis(server.port)
  const redis = perilune(ioredis(client), { deadline: '300ms' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
    await server.stop()
  })
  const limit = redis.rateLimit('a', { algorithm: 'concurrency', limit: 2, lease: '10m' })
  await limit.take('ada')
  process.kill(server.pid, 'SIGSTOP')
  const takes = Array.from({ length: 5 }, () => limit.take('ada'))
  for (const take of takes) await expect(take).rejects.toMatchObject({ code: 'ambiguous' })

  process.kill(server.pid, 'SIGCONT')

  await expect.poll(async () => (await limit.take('ada')).allowed).toBe(true)
})
