// The server did what it was asked and the answer never came. Every call is repeated by the runtime (and
// perhaps once more by the client library), and must still have happened once.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { AmbiguousError, type Driver, DriverError, type Feed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient } from 'redis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
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

interface Setup {
  feed: Feed<number>
  proxy: Proxy
}

async function setup(connect: Connect, deadline: '3s' | '500ms' = '3s'): Promise<Setup> {
  const proxy = await startProxy(inject('redisPort'))
  const { driver, disconnect } = await connect(proxy.port)
  const redis = perilune(driver, { deadline, namespace: 'faults' })
  onTestFinished(async () => {
    await redis.close()
    disconnect()
    await proxy.stop()
  })
  const feed = redis.feed<number>(randomUUID())
  // The scripts are known to the server, so that the calls below are one request each.
  await redis.preload()
  await feed.inspect()
  return { feed, proxy }
}

const bodies = (messages: readonly { body: number }[]): number[] => messages.map(({ body }) => body)

describe.each(clients)('with %s', (_, connect) => {
  test('an append whose answer is lost happens once', async () => {
    const { feed, proxy } = await setup(connect)
    for (let n = 0; n < 20; n++) {
      proxy.cutReplies(1, /evalsha/i)
      await feed.append(n)
      expect(proxy.pendingFaults).toBe(0)
    }

    const { messages } = await feed.read({ limit: 1000 })

    expect(bodies(messages)).toEqual(Array.from({ length: 20 }, (_value, n) => n))
  })

  test('a claim whose answer is lost is given again to the one who asked', async () => {
    const { feed, proxy } = await setup(connect)
    await feed.appendMany([{ body: 1 }, { body: 2 }])

    proxy.cutReplies(1, /evalsha/i)
    const claim = await feed.claim({ limit: 2 })

    expect(proxy.pendingFaults).toBe(0)
    expect(bodies(claim?.messages ?? [])).toEqual([1, 2])
    expect(claim?.messages[0]?.claims).toBe(1)
  })

  test('an ack whose answer is lost is not reported as lost', async () => {
    const { feed, proxy } = await setup(connect)
    await feed.appendMany([{ body: 1 }, { body: 2 }])
    const claim = await feed.claim({ limit: 2 })

    proxy.cutReplies(1, /evalsha/i)
    const refused = await claim?.ack()

    expect(proxy.pendingFaults).toBe(0)
    expect(refused).toEqual([])
    expect((await feed.inspect()).total).toBe(0)
  })

  test('a release whose answer is lost is not reported as lost', async () => {
    const { feed, proxy } = await setup(connect)
    await feed.append(1)
    const claim = await feed.claim()

    proxy.cutReplies(1, /evalsha/i)
    await claim?.release()

    expect(proxy.pendingFaults).toBe(0)
    expect(await feed.inspect()).toMatchObject({ free: 1, claimed: 0 })
  })

  test('a removal whose answer is lost counts what it removed', async () => {
    const { feed, proxy } = await setup(connect)
    const { id } = await feed.append(1)

    proxy.cutReplies(1, /evalsha/i)
    const removed = await feed.remove([id])

    expect(proxy.pendingFaults).toBe(0)
    expect(removed).toEqual({ count: 1, held: [] })
  })

  test('a call that never reached the server is sent again', async () => {
    const { feed, proxy } = await setup(connect)

    proxy.dropRequests(1, /evalsha/i)
    await feed.append(7)

    expect(bodies((await feed.read()).messages)).toEqual([7])
  })

  test('without any answer a write is ambiguous and a read is not', async () => {
    const { feed, proxy } = await setup(connect, '500ms')

    proxy.halfOpen()
    const [write, read] = await Promise.allSettled([feed.append(1), feed.read()])

    expect(write).toMatchObject({ status: 'rejected', reason: expect.any(AmbiguousError) })
    expect(read).toMatchObject({ status: 'rejected', reason: expect.any(DriverError) })
    expect(read).toMatchObject({ reason: { code: 'unreachable' } })
  })

  test('calls go on after the connection was reset again and again', async () => {
    const { feed, proxy } = await setup(connect)
    const resetting = setInterval(() => proxy.resetAll(), 30)

    const sent = Array.from({ length: 200 }, (_value, n) => n)
    for (const n of sent) await feed.append(n)
    clearInterval(resetting)

    expect(bodies((await feed.read({ limit: 1000 })).messages)).toEqual(sent)
  })
})
