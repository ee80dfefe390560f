// The server granted a permit, or took one back, and the answer never came.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Driver, perilune, type Semaphore } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { lineOf } from '../semaphore-fixture.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'

type Connect = (port: number) => Promise<{ driver: Driver; disconnect(): void }>

const clients: [string, Connect][] = [
  ['ioredis', (port) => withIoredis(port, true)],
  ['ioredis that does not resend', (port) => withIoredis(port, false)],
  ['node-redis', withNodeRedis],
]

async function withIoredis(port: number, autoResendUnfulfilledCommands: boolean): ReturnType<Connect> {
  const client = new Redis(port, { retryStrategy: () => 20, autoResendUnfulfilledCommands })
  client.on('error', () => undefined)
  return { driver: ioredis(client), disconnect: () => client.disconnect() }
}

async function withNodeRedis(port: number): ReturnType<Connect> {
  const client = createClient({ socket: { host: '127.0.0.1', port, reconnectStrategy: 20 } })
  client.on('error', () => undefined)
  await client.connect()
  return { driver: nodeRedis(client), disconnect: () => client.destroy() }
}

async function setup(connect: Connect, limit: number): Promise<{ semaphore: Semaphore; proxy: Proxy }> {
  const proxy = await startProxy(inject('redisPort'))
  const { driver, disconnect } = await connect(proxy.port)
  const redis = perilune(driver, { deadline: '3s', namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    disconnect()
    await proxy.stop()
  })
  const semaphore = redis.semaphore(randomUUID(), { limit })
  // The scripts are known to the server, so that the calls below are one request each.
  await redis.preload()
  await semaphore.inspect()
  return { semaphore, proxy }
}

describe.each(clients)('with %s', (_, connect) => {
  test('an attempt whose answer is lost does not block itself, nor take a second permit', async () => {
    const { semaphore, proxy } = await setup(connect, 1)

    for (let round = 0; round < 5; round++) {
      proxy.cutReplies(1, /evalsha/i)
      const lease = await semaphore.acquire()

      expect(proxy.pendingFaults).toBe(0)
      expect(await semaphore.inspect()).toMatchObject({ used: 1, permits: [{ token: lease.token }] })
      await lease.release()
    }
  })

  test('a release whose answer is lost is not reported as lost, and gives back once', async () => {
    const { semaphore, proxy } = await setup(connect, 2)
    await semaphore.acquire()
    const lease = await semaphore.acquire()
    const waiter = semaphore.acquire({ wait: '20s' })
    await lineOf(semaphore, 1)

    proxy.cutReplies(1, /evalsha/i)
    await lease.release()

    expect(proxy.pendingFaults).toBe(0)
    await waiter
    expect(await semaphore.inspect()).toMatchObject({ used: 2, waiting: 0 })
  })

  test('one who waits is served although its connections are reset', async () => {
    const { semaphore, proxy } = await setup(connect, 1)
    const holder = await semaphore.acquire()
    const waiter = semaphore.acquire({ wait: '20s' })
    await lineOf(semaphore, 1)

    proxy.resetAll()
    await holder.release()

    await (await waiter).release()
    expect(await semaphore.inspect()).toMatchObject({ used: 0, waiting: 0 })
  })
})
