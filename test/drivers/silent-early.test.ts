// Connections that fall silent before anything was asked over them: before the server has greeted the client, or before
// the first call of Perilune.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Redis as Lowest } from 'ioredis-lowest'
import { perilune } from 'perilune'
import * as newest from 'redis'
import * as lowest from 'redis-lowest'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { callOf, ECHO, failureOf, untilAnswered, WRITE } from '../../src/testing/driver-calls.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import { ask, until } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { announce } from './announced.ts'
import { at, HOST, opened, waysToOpen } from './client.ts'
import { LONG_MS, startDeafTo } from './slow-lines.ts'

const waysOfClusters = await waysToOpen('clusters')

/** Of the second of two nodes. */
const AFTER = callOf(ECHO, ['a'], ['after'])

async function ownServer(): Promise<Proxy> {
  const server = await startRedis()
  const proxy = await startProxy(server.port)
  onTestFinished(async () => {
    await proxy.stop()
    await server.stop()
  })
  return proxy
}

/** The connection that the client opens now is accepted, and dead; later ones work. */
async function acceptSilently(proxy: Proxy, driver: Driver): Promise<void> {
  const before = proxy.connections
  proxy.halfOpen()
  proxy.resetAll()
  // A client of a cluster connects to a node when it needs it.
  const using = setInterval(() => void driver.run(AFTER).catch(() => undefined), 50)
  await until('it has connected again', async () => proxy.connections > before).finally(() => {
    clearInterval(using)
    proxy.heal()
  })
}

/** Old connections are dead from here on, without a word; new ones work. */
function dropSilently(proxy: Proxy): void {
  proxy.halfOpen()
  proxy.heal()
}

test.each(await waysToOpen('singles'))(
  '%s replaces a connection that falls silent before it is ready',
  async (_, open) => {
    const proxy = await ownServer()
    const used = await open(proxy.port)
    onTestFinished(() => used.close())
    await used.driver.run(callOf(ECHO, ['a'], ['before']))

    await acceptSilently(proxy, used.driver)

    expect(await untilAnswered(used.driver, AFTER)).toBe('after')
    await until('it is healthy', async () => used.driver.healthy())
  },
  30_000,
)

const impatient: [string, (port: number) => Promise<OpenedDriver>][] = [
  [
    'ioredis without an offline queue',
    async (port) => {
      const client = new Redis({ host: HOST, port, enableOfflineQueue: false })
      client.on('error', () => undefined)
      await once(client, 'ready')
      return opened(
        ioredis(client),
        () => client.ping(),
        () => client.disconnect(),
      )
    },
  ],
  [
    'node-redis without an offline queue',
    async (port) => {
      const client = newest.createClient({ socket: { host: HOST, port }, disableOfflineQueue: true })
      client.on('error', () => undefined)
      await client.connect()
      return opened(
        nodeRedis(client),
        () => client.ping(),
        () => client.destroy(),
      )
    },
  ],
]

test.each(impatient)(
  '%s, without a call that waits for a connection, replaces one that falls silent before it is ready',
  async (_, open) => {
    const proxy = await ownServer()
    const { driver, close } = await open(proxy.port)
    onTestFinished(close)

    await acceptSilently(proxy, driver)

    expect(await untilAnswered(driver, AFTER)).toBe('after')
  },
  30_000,
)

test('errors of a node-redis client are left to its user', async () => {
  const client = newest.createClient({ socket: { host: HOST, port: (await ownServer()).port } })
  await client.connect()
  const driver = nodeRedis(client)
  onTestFinished(async () => {
    await driver.close()
    client.destroy()
  })

  expect(client.listenerCount('error')).toBe(0)
})

describe('a cluster', () => {
  let cluster: RedisCluster
  let proxies: Proxy[]

  beforeAll(async () => {
    cluster = await startCluster({ masters: 2 })
    proxies = await Promise.all(cluster.ports.map((port) => startProxy(port)))
    await announce(cluster.ports, proxies)
  }, 60_000)
  afterAll(async () => {
    await Promise.all(proxies.map((each) => each.stop()))
    await cluster.stop()
  })

  const ports = (): number[] => proxies.map(({ port }) => port)

  test.each(waysOfClusters)(
    '%s: a client whose connections are all half-open reports the server info soon',
    async (_, open) => {
      const used = await open(ports())
      onTestFinished(() => used.close())
      await used.driver.info()

      for (const each of proxies) dropSilently(each)
      await used.driver.info().catch(() => undefined)

      await until('info arrives', () =>
        used.driver.info().then(
          () => true,
          () => false,
        ),
      )
    },
    60_000,
  )

  test.each([
    ['node-redis', newest],
    ['the lowest node-redis', lowest],
  ] as const)(
    '%s: a connection to a node that is replaced before it is ready is fully closed at the end',
    async (_, { createCluster }) => {
      const rootNodes = at(ports()).map((socket) => ({ socket }))
      const client = createCluster({ rootNodes, defaults: { socket: { reconnectStrategy: 20 } } })
      client.on('error', () => undefined)
      await client.connect()
      const driver = nodeRedis(client)
      await driver.run(AFTER)

      await acceptSilently(proxies[1] as Proxy, driver)
      expect(await untilAnswered(driver, AFTER)).toBe('after')
      await driver.close()
      client.destroy()

      await until('all are closed', async () => proxies.every((each) => each.openConnections === 0))
    },
    60_000,
  )

  test.each(waysOfClusters)(
    '%s: a connection to a node that falls silent before it is ready is replaced',
    async (_, open) => {
      const used = await open(ports())
      onTestFinished(() => used.close())
      await used.driver.run(AFTER)

      await acceptSilently(proxies[1] as Proxy, used.driver)

      expect(await untilAnswered(used.driver, AFTER)).toBe('after')
    },
    60_000,
  )
})

test.each([
  ['node-redis', newest],
  ['the lowest node-redis', lowest],
] as const)(
  '%s: a client that its user closes while it is silent stays closed',
  async (_, { createClient }) => {
    const proxy = await ownServer()
    const client = createClient({ socket: { host: HOST, port: proxy.port } })
    client.on('error', () => undefined)
    await client.connect()
    const driver = nodeRedis(client)
    onTestFinished(() => driver.close())
    await driver.run(callOf(ECHO, ['a'], ['before']))

    dropSilently(proxy)
    const due = failureOf(driver.run(callOf(ECHO, ['a'], ['lost'])))
    void client.close()
    await new Promise((resolve) => setTimeout(resolve, LONG_MS))

    expect(client.isOpen).toBe(false)
    await driver.close()
    expect(await due).toBeInstanceOf(Error)
  },
  30_000,
)

test.each((await waysToOpen('singles')).filter(([name]) => name.includes('node-redis')))(
  '%s: a connection to a read-only server that falls silent while it is being closed is replaced',
  async (_, open) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const { driver, close } = await open(await startDeafTo(server.port, 'QUIT'))
    onTestFinished(close)

    await ask(server.port, 'REPLICAOF', HOST, '1')
    expect(await failureOf(driver.run(callOf(WRITE, ['a'], ['refused'])))).toMatchObject({ word: 'READONLY' })
    await ask(server.port, 'REPLICAOF', 'NO', 'ONE')

    expect(await untilAnswered(driver, callOf(WRITE, ['a'], ['after']))).toBe('written')
  },
  30_000,
)

/** Accepts two connections, is silent, and ends them; later ones lead to a server. Returns its port. */
async function endsTwice(): Promise<number> {
  const { port } = await ownServer()
  let accepted = 0
  const gate = createServer((socket) => {
    socket.on('error', () => undefined)
    accepted += 1
    if (accepted <= 2) return void setTimeout(() => socket.destroy(), 300)
    const onward = connect(port, HOST)
    onward.on('error', () => undefined).on('close', () => socket.destroy())
    socket.on('close', () => onward.destroy())
    return void socket.pipe(onward).pipe(socket)
  }).listen(0, HOST)
  onTestFinished(() => void gate.close())
  await once(gate, 'listening')
  return (gate.address() as AddressInfo).port
}

const socketOf = (port: number) => ({ socket: { host: HOST, port, reconnectStrategy: 50 } })
const clients: Readonly<Record<string, (port: number) => { driver: Driver; end(): void }>> = {
  ioredis: (port) => ofIoredis(new Redis(port, { retryStrategy: () => 50 })),
  'ioredis without a ready check': (port) =>
    ofIoredis(new Redis(port, { retryStrategy: () => 50, enableReadyCheck: false })),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of what is used here, both versions have the same
  'the lowest ioredis': (port) =>
    ofIoredis(new Lowest(port, { retryStrategy: () => 50 }) as unknown as Redis),
  'node-redis': (port) => ofNodeRedis(newest.createClient(socketOf(port))),
  'the lowest node-redis': (port) => ofNodeRedis(lowest.createClient(socketOf(port))),
}

function ofIoredis(client: Redis): { driver: Driver; end(): void } {
  client.on('error', () => undefined)
  return { driver: ioredis(client), end: () => client.disconnect() }
}

function ofNodeRedis(
  client: ReturnType<typeof newest.createClient> | ReturnType<typeof lowest.createClient>,
) {
  client.on('error', () => undefined)
  client.connect().catch(() => undefined)
  return { driver: nodeRedis(client), end: () => client.destroy() }
}

// In the greeting: while the connection is open, and not ready.
test.each(Object.entries(clients))(
  '%s: a first call whose connection ends in the greeting is answered',
  async (_, open) => {
    const port = await endsTwice()
    const { driver, end } = open(port)
    const redis = perilune(driver, { namespace: 'early', deadline: '10s' })
    onTestFinished(async () => {
      await redis.close()
      end()
    })
    await sleep(120)

    expect(await redis.queue('q').enqueue('job', 1)).toMatchObject({ duplicate: false })
  },
)
