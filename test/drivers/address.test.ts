// The error of a call that no server answers names the address, because a wrong one is the most common cause.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { createClient } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import type { Driver } from '../../src/driver.ts'
import { HOST } from './client.ts'

/** A port of the system, on which nothing listens. */
const PORT = 1
const SECRET = 'secret'

function withIoredis(): Driver {
  const client = new Redis(`redis://user:${SECRET}@${HOST}:${PORT}`, { maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  return ioredis(client)
}

function withNodeRedis(): Driver {
  const client = createClient({ url: `redis://user:${SECRET}@${HOST}:${PORT}` })
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  onTestFinished(() => client.destroy())
  return nodeRedis(client)
}

test.each([
  ['ioredis', withIoredis],
  ['node-redis', withNodeRedis],
])('%s: a call that no server answers names the address, without the password', async (_name, open) => {
  const own = perilune(open(), { deadline: '300ms' })
  onTestFinished(() => own.close())
  const calls = [own.lock('a').acquire(), own.queue('a').enqueue('mail', 1)]

  for (const result of await Promise.allSettled(calls)) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unreachable' } })
    const { message } = (result as PromiseRejectedResult).reason as Error
    expect(message).toContain(`no server answered before the deadline; tried ${HOST}:${PORT}`)
    expect(message).not.toContain(SECRET)
  }
})
