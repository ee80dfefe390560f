// An invalid client is rejected by a message that names the given value and the right one.

import * as ioredisLibrary from 'ioredis'
import * as nodeRedisLibrary from 'redis'
import { perilune } from 'perilune'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { failureOf } from '../../src/testing/driver-calls.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { HOST } from './client.ts'

const { Redis } = ioredisLibrary
const { createClient, createClientPool, createCluster } = nodeRedisLibrary

/** Connects to nothing. */
const ofIoredis = (): ioredisLibrary.Redis => new Redis({ lazyConnect: true })

/** A cluster of an older version lacks one of its options. */
function olderCluster(): ioredisLibrary.Cluster {
  const cluster = new ioredisLibrary.Cluster([], { lazyConnect: true })
  Reflect.deleteProperty(cluster.options, 'clusterNodeRetryStrategy')
  return cluster
}

/** Methods that a client of an older version lacks. */
function without(client: object, member: string): object {
  return new Proxy(client, {
    has: (target, name) => name !== member && name in target,
    get: (target, name) => (name === member ? undefined : Reflect.get(target, name)),
  })
}

const nothing: [string, unknown, RegExp][] = [
  ['undefined', undefined, /, not undefined$/],
  ['null', null, /, not null$/],
  ['a URL', 'redis://127.0.0.1', /, not a string$/],
  ['a class', Redis, /, not a function$/],
  ['an object', {}, /, not an object that is none$/],
  ['a client that is not there yet', Promise.resolve(createClient()), /, not a promise: await it$/],
]

describe('ioredis()', () => {
  test.each([
    ...nothing,
    ['a driver', ioredis(ofIoredis()), /, not a driver, which goes to perilune\(\) itself$/],
    ['a pipeline', ofIoredis().pipeline(), /, not a pipeline$/],
    ['a client of node-redis', createClient(), /not a client of node-redis, which goes to nodeRedis\(\)/],
    ['a cluster of node-redis', createCluster({ rootNodes: [{}] }), /which goes to nodeRedis\(\)/],
    ['an older client', without(ofIoredis(), '_buildCommandContext'), /older than ioredis 5\.11\.1/],
    ['an older cluster', olderCluster(), /older than ioredis/],
  ])('refuses %s', (_, given, reason) => {
    expect(() => ioredis(given as ioredisLibrary.Redis)).toThrow(TypeError)
    expect(() => ioredis(given as ioredisLibrary.Redis)).toThrow(
      /^ioredis\(\) takes a Redis or a Cluster of ioredis|^this client is older/,
    )
    expect(() => ioredis(given as ioredisLibrary.Redis)).toThrow(reason)
  })
})

describe('nodeRedis()', () => {
  test.each([
    ...nothing,
    ['a driver', ioredis(ofIoredis()), /, not a driver, which goes to perilune\(\) itself$/],
    ['a transaction', createClient().multi(), /, not a transaction$/],
    ['a pool', createClientPool(), /, not a pool$/],
    ['a legacy client', createClient().legacy(), /, not a legacy\(\) client$/],
    ['a client of ioredis', ofIoredis(), /not a client of ioredis, which goes to ioredis\(\)/],
    ['an older client', without(createClient(), 'hImportSet'), /older than node-redis 6\.2\.1/],
    ['an older cluster', without(createCluster({ rootNodes: [{}] }), 'hImportSet'), /older than node-redis/],
  ])('refuses %s', (_, given, reason) => {
    expect(() => nodeRedis(given as nodeRedisLibrary.RedisClientType)).toThrow(TypeError)
    expect(() => nodeRedis(given as nodeRedisLibrary.RedisClientType)).toThrow(
      /^nodeRedis\(\) takes a client, a cluster or a sentinel client of node-redis|^this client is older/,
    )
    expect(() => nodeRedis(given as nodeRedisLibrary.RedisClientType)).toThrow(reason)
  })
})

describe('perilune()', () => {
  test.each([
    ['a client of ioredis', ofIoredis()],
    ['a client of node-redis', createClient()],
    ['nothing', undefined],
  ])('refuses %s', (_, given) => {
    expect(() => perilune(given as never)).toThrow(
      /^driver must be a driver: ioredis\(client\) of perilune\/ioredis, nodeRedis\(client\) of perilune\/node-redis/,
    )
  })
})

describe('a client in subscriber mode', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.stop())

  test('is rejected, of ioredis, and so is a call after it enters that mode', async () => {
    const client = new Redis({ host: HOST, port: server.port, protocol: 2 })
    onTestFinished(() => client.disconnect())
    const driver = ioredis(client)
    await client.subscribe('c')

    expect(await failureOf(perilune(driver).lock('l').tryAcquire())).toMatchObject({
      code: 'script-failed',
      message: expect.stringContaining('subscriber mode: give the driver one of its own'),
    })
    expect(() => ioredis(client)).toThrow(/subscriber mode: give the driver one of its own/)
  })

  test('is rejected, of node-redis, and so is a call after it enters that mode', async () => {
    const client = createClient({ socket: { host: HOST, port: server.port }, RESP: 2 })
    await client.connect()
    onTestFinished(() => client.destroy())
    const driver = nodeRedis(client)
    await client.subscribe('c', () => undefined)

    expect(await failureOf(perilune(driver).lock('l').tryAcquire())).toMatchObject({
      code: 'script-failed',
      message: expect.stringContaining('subscriber mode: give the driver one of its own'),
    })
    expect(() => nodeRedis(client)).toThrow(/subscriber mode: give the driver one of its own/)
  })

  test('may subscribe alongside our calls on RESP3', async () => {
    const client = new Redis({ host: HOST, port: server.port, protocol: 3 })
    onTestFinished(() => client.disconnect())
    await client.subscribe('c')

    expect(
      await perilune(ioredis(client))
        .lock('l')
        .run(() => 'done'),
    ).toBe('done')
  })
})
