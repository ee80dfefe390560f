import { Cluster, Redis } from 'ioredis'
import { createClient, createClientPool } from 'redis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { callOf, ECHO, failureOf, until } from '../../src/testing/driver-calls.ts'
import manifest from '../../package.json' with { type: 'json' }
import { freePort } from '../servers/ports.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

const echo = callOf(ECHO, ['k'], ['x'])

test.each(['ioredis', 'redis'] as const)(
  'the suites run on the lowest and the newest %s that is allowed',
  (name) => {
    const ranges = manifest.peerDependencies[name].split(' || ').map((range) => range.replace('^', ''))
    const majorOf = (version = ''): string => version.split('.')[0] ?? ''

    expect(manifest.devDependencies[`${name}-lowest`]).toBe(`npm:${name}@${ranges[0]}`)
    expect(majorOf(manifest.devDependencies[name])).toBe(majorOf(ranges.at(-1)))
  },
)

test('an ioredis client that would rename keys or change replies is rejected', () => {
  const lazy = { lazyConnect: true }

  expect(() => ioredis(new Redis({ ...lazy, keyPrefix: 'a:' }))).toThrow(/keyPrefix/)
  expect(() => ioredis(new Cluster([], { ...lazy, redisOptions: { keyPrefix: 'a:' } }))).toThrow(/keyPrefix/)
  expect(() => ioredis(new Redis({ ...lazy, stringNumbers: true }))).toThrow(/stringNumbers/)
  expect(() => ioredis(new Redis({ ...lazy, protocol: 3, replyMapping: 'resp3' }))).toThrow(/replyMapping/)
})

test('a node-redis pool, a legacy client and a client with a keyPrefix are rejected', () => {
  // @ts-expect-error: the types refuse it too
  expect(() => nodeRedis(createClient().legacy())).toThrow(TypeError)
  // @ts-expect-error: the types refuse it too
  expect(() => nodeRedis(createClientPool())).toThrow(/not a pool/)
  expect(() => nodeRedis(createClient({ keyPrefix: 'a:' }))).toThrow(/keyPrefix/)
})

test('a call that ioredis gives up before its first connection was certainly not sent', async () => {
  const client = new Redis({
    host: '127.0.0.1',
    port: await freePort(),
    maxRetriesPerRequest: 1,
    retryStrategy: (times) => (times > 3 ? null : 5),
  })
  client.on('error', () => {})

  const failure = await failureOf(ioredis(client).run(echo))
  await until(() => client.status === 'end', 'the client had ended')
  const late = await failureOf(ioredis(client).run(echo))

  expect(failure).toMatchObject({ name: 'ConnectionLostError', sent: false })
  expect(late).toMatchObject({ name: 'ConnectionLostError', sent: false })
})

test('a call that an ioredis client without an offline queue rejects was certainly not sent', async () => {
  const client = new Redis({ host: '127.0.0.1', port: await freePort(), enableOfflineQueue: false })
  client.on('error', () => {})

  expect(await failureOf(ioredis(client).run(echo))).toMatchObject({
    name: 'ConnectionLostError',
    sent: false,
  })
  client.disconnect()
})

test('a call to a closed node-redis client, or one that waited too long to be sent, was certainly not sent', async () => {
  const closed = createClient({ socket: { port: server.port } })
  const waiting = createClient({
    socket: { port: await freePort(), reconnectStrategy: 20 },
    commandOptions: { timeout: 50 },
  })
  waiting.on('error', () => {})
  const connecting = failureOf(waiting.connect())

  const failures = [
    await failureOf(nodeRedis(closed).run(echo)),
    await failureOf(nodeRedis(waiting).run(echo)),
  ]
  waiting.destroy()
  await connecting

  for (const failure of failures) expect(failure).toMatchObject({ name: 'ConnectionLostError', sent: false })
})

test('a command timeout does not end a load of scripts on a connected node-redis client', async () => {
  const client = createClient({ socket: { port: server.port }, commandOptions: { timeout: 1 } })
  client.on('error', () => {})
  await client.connect()
  const driver = nodeRedis(client)

  const loads = Array.from({ length: 300 }, (_, n) =>
    driver.load({ ...echo.script, source: `return ${n} --${'x'.repeat(20_000)}` }),
  )

  expect((await Promise.allSettled(loads)).filter(({ status }) => status === 'rejected')).toEqual([])
  await driver.close()
  client.destroy()
})

test('a wrong password is an error of the server', async () => {
  const guarded = await startRedis({ args: ['--requirepass', 'secret'] })
  const client = new Redis({ host: '127.0.0.1', port: guarded.port, password: 'wrong' })
  client.on('error', () => {})

  const failure = await failureOf(ioredis(client).run(echo))
  client.disconnect()
  await guarded.stop()

  expect(failure).toMatchObject({ name: 'ServerReplyError', word: 'WRONGPASS' })
})

test('a driver uses one more connection, however many channels it listens on', async () => {
  const own = await startRedis()
  const client = new Redis({ host: '127.0.0.1', port: own.port })
  const driver = ioredis(client)

  await Promise.all(
    Array.from({ length: 20 }, (_, n) => driver.subscribe(`c:${n}`, { onMessage() {}, onGap() {} })),
  )

  expect(await client.info('clients')).toContain('connected_clients:2')
  await driver.close()
  await until(
    async () => (await client.info('clients')).includes('connected_clients:1'),
    'the line was closed',
  )
  client.disconnect()
  await own.stop()
})
