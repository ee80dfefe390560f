// The error of a call that no server answers names the address, because a wrong one is the most common cause.

import { Cluster, Redis } from 'ioredis'
import { perilune } from 'perilune'
import { createClient, createCluster, createSentinel } from 'redis'
import { expect, onTestFinished, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import type { Driver } from '../../src/driver.ts'
import { startRedis } from '../servers/redis.ts'
import { HOST } from './client.ts'

/** A port of the system, on which nothing listens. */
const PORT = 1
const SECRET = 'secret'

function withIoredis(port = PORT, user = `user:${SECRET}@`): Driver {
  const client = new Redis(`redis://${user}${HOST}:${port}`, { maxRetriesPerRequest: null })
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  return ioredis(client)
}

function withNodeRedis(port = PORT, user = `user:${SECRET}@`): Driver {
  const client = createClient({ url: `redis://${user}${HOST}:${port}` })
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  onTestFinished(() => client.destroy())
  return nodeRedis(client)
}

const DRIVERS = [
  ['ioredis', withIoredis],
  ['node-redis', withNodeRedis],
] as const

test.each(DRIVERS)(
  '%s: a call that no server answers names the address, without the password',
  async (_name, open) => {
    const own = perilune(open(), { deadline: '300ms' })
    onTestFinished(() => own.close())
    const calls = [own.lock('a').acquire(), own.queue('a').enqueue('mail', 1)]

    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'unreachable' } })
      const { message } = (result as PromiseRejectedResult).reason as Error
      expect(message).toContain(`no server answered before the deadline; tried ${HOST}:${PORT}`)
      expect(message).not.toContain(SECRET)
    }
  },
)

test.each(DRIVERS)(
  '%s: so does a call to a server that has gone, alone or in a batch',
  async (_name, open) => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const own = perilune(open(redis.port, ''), { deadline: '500ms' })
    onTestFinished(() => own.close())
    const [lock, feed] = [own.lock('a'), own.feed('a')]
    await Promise.all([lock.inspect(), feed.append(1)])
    await redis.kill()

    for (const call of [lock.inspect(), feed.read()]) {
      await expect(call).rejects.toThrow(
        `no server answered before the deadline; tried ${HOST}:${redis.port}`,
      )
    }
  },
)

const SENTINELS = [{ host: HOST, port: PORT }]
const SOCKET = '/run/redis.sock'

test.each([
  ['a socket, ioredis', () => ioredis(new Redis({ path: SOCKET, lazyConnect: true })), SOCKET],
  ['a socket, node-redis', () => nodeRedis(createClient({ socket: { path: SOCKET, tls: false } })), SOCKET],
  [
    'Sentinels, ioredis',
    () => ioredis(new Redis({ sentinels: SENTINELS, name: 'main', lazyConnect: true })),
    'main',
  ],
  [
    'Sentinels, node-redis',
    () => nodeRedis(createSentinel({ name: 'main', sentinelRootNodes: SENTINELS })),
    'the primary of Sentinels',
  ],
  [
    'a cluster that is not reached, ioredis',
    () => ioredis(new Cluster(SENTINELS, { lazyConnect: true })),
    '',
  ],
  [
    'a cluster that is not reached, node-redis',
    () => nodeRedis(createCluster({ rootNodes: SENTINELS.map((socket) => ({ socket })) })),
    '',
  ],
])('the address of %s', async (_what, open, address) => {
  const driver = open()

  expect(driver.address).toBe(address)
  await driver.close()
})
