// A connection for commands that falls silent: a firewall has dropped it, or its server is slow.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ConnectionLostError, type Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { callOf, ECHO, failureOf, scriptOf, untilAnswered } from '../../src/testing/driver-calls.ts'
import { ask, until } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { startSentinels } from '../servers/sentinels.ts'
import { announce } from './announced.ts'
import { HOST, type OpenSingle, waysToOpen } from './client.ts'
import { LONG_MS, startTrickle } from './slow-lines.ts'

const waysOfClusters = await waysToOpen('clusters')

async function ownServer(): Promise<{ server: RedisServer; proxy: Proxy }> {
  const server = await startRedis()
  const proxy = await startProxy(server.port)
  onTestFinished(async () => {
    await proxy.stop()
    await server.stop()
  })
  return { server, proxy }
}

/** Old connections are dead from here on, without a word; new ones work. */
function dropSilently(from: Proxy): void {
  from.halfOpen()
  from.heal()
}

function echo(driver: Driver, key: string, text: string): Promise<unknown> {
  return driver.run(callOf(ECHO, [key], [text]))
}

async function driverAt(port: number, open: OpenSingle): Promise<Driver> {
  const opened = await open(port)
  onTestFinished(() => opened.close())
  return opened.driver
}

test.each(await waysToOpen('singles'))(
  '%s replaces a connection for commands that is half open',
  async (_, open) => {
    const { proxy } = await ownServer()
    const driver = await driverAt(proxy.port, open)
    await echo(driver, 'a', 'before')
    expect(driver.healthy()).toBe(true)

    dropSilently(proxy)
    const due = failureOf(echo(driver, 'a', 'lost'))
    await until('it is doubted', async () => !driver.healthy())
    const failure = await due

    expect(failure instanceof ConnectionLostError && failure.sent, String(failure)).toBe(true)
    expect(await untilAnswered(driver, callOf(ECHO, ['a'], ['after']))).toBe('after')
    await until('it is healthy', async () => driver.healthy())
  },
  30_000,
)

async function slowServer(open: OpenSingle): Promise<void> {
  const { server, proxy } = await ownServer()
  const driver = await driverAt(proxy.port, open)
  await echo(driver, 'a', 'before')

  process.kill(server.pid, 'SIGSTOP')
  const due = echo(driver, 'a', 'late')
  await sleep(LONG_MS)
  process.kill(server.pid, 'SIGCONT')

  expect(await due).toBe('late')
  await until('it is healthy', async () => driver.healthy())
}

async function longAnswer(open: OpenSingle): Promise<void> {
  const { server } = await ownServer()
  const driver = await driverAt(await startTrickle(server.port), open)
  const long = callOf(scriptOf("return string.rep('x', 3000)", { bytes: true }), ['a'])

  expect(String(await driver.run(long))).toHaveLength(3000)
}

async function commandThatWaits(open: OpenSingle): Promise<void> {
  const { proxy } = await ownServer()
  const driver = await driverAt(proxy.port, open)

  const waiting = driver.wait('a', 1, LONG_MS)
  await sleep(10)
  const behind = echo(driver, 'a', 'behind')

  expect(await waiting).toBe(0)
  expect(await behind).toBe('behind')
}

// At once: they take long.
test.each((await waysToOpen('singles')).filter(([name]) => !name.includes('RESP2')))(
  '%s keeps a connection whose server is slow, whose answer is long, or on which a command waits at the server',
  async (_, open) => {
    await Promise.all([slowServer(open), longAnswer(open), commandThatWaits(open)])
  },
  60_000,
)

test('ioredis: a command of the user that waits at the server is not disturbed', async () => {
  const { proxy } = await ownServer()
  const client = new Redis({ host: HOST, port: proxy.port })
  const driver = ioredis(client)
  onTestFinished(async () => {
    await driver.close()
    client.disconnect()
  })
  await echo(driver, 'a', 'before')

  const waiting = client.blpop('list', 4)
  const behind = echo(driver, 'a', 'behind')

  expect(await waiting).toBeNull()
  expect(await behind).toBe('behind')
  expect(proxy.connections).toBe(1)
}, 30_000)

test.each(waysOfClusters)(
  '%s: a cluster node with a half-open connection is reached again, and the others are not disturbed',
  async (_, open) => {
    const cluster = await startCluster({ masters: 2 })
    onTestFinished(() => cluster.stop())
    const proxies = await Promise.all(cluster.ports.map((port) => startProxy(port)))
    onTestFinished(async () => {
      await Promise.all(proxies.map((each) => each.stop()))
    })
    await announce(cluster.ports, proxies)
    const opened = await open(proxies.map(({ port }) => port))
    onTestFinished(() => opened.close())
    const { driver } = opened
    const keys = [
      await keyIn(cluster, (slot) => slot < 8192),
      await keyIn(cluster, (slot) => slot >= 8192),
    ] as const
    for (const key of keys) await echo(driver, key, 'before')
    const [dead, other] = proxies as [Proxy, Proxy]
    const before = other.openConnections

    dropSilently(dead)
    const due = failureOf(echo(driver, keys[0], 'lost'))
    const isEchoed = await echo(driver, keys[1], 'other')

    expect(isEchoed).toBe('other')
    expect(await due).toBeInstanceOf(ConnectionLostError)
    expect(await untilAnswered(driver, callOf(ECHO, [keys[0]], ['after']))).toBe('after')
    expect(other.openConnections).toBeGreaterThanOrEqual(before)
  },
  60_000,
)

test.each(await waysToOpen('sentinels'))(
  '%s: a half-open connection to a primary behind Sentinel is replaced',
  async (_, open) => {
    const group = await startSentinels()
    onTestFinished(() => group.stop())
    const before = await startProxy(group.primary.port)
    onTestFinished(() => before.stop())
    for (const port of group.sentinelPorts) {
      await ask(port, 'SENTINEL', 'REMOVE', group.masterName)
      await ask(port, 'SENTINEL', 'MONITOR', group.masterName, HOST, before.port, 2)
    }
    const opened = await open(group.sentinelPorts, group.masterName)
    onTestFinished(() => opened.close())
    await echo(opened.driver, 'a', 'before')

    dropSilently(before)
    // node-redis sends it again by itself.
    await echo(opened.driver, 'a', 'lost').catch(() => undefined)

    expect(await untilAnswered(opened.driver, callOf(ECHO, ['a'], ['after']))).toBe('after')
  },
  60_000,
)

describe('a master of a cluster that vanished without closing connections', () => {
  let cluster: RedisCluster

  beforeAll(async () => {
    cluster = await startCluster({ masters: 3, replicasPerMaster: 1 })
    for (const port of cluster.ports) await ask(port, 'CONFIG', 'SET', 'cluster-node-timeout', 2000)
  }, 60_000)
  afterAll(() => cluster.stop())

  /** Stops the master of the slots of the key until its replica has taken over and `use` is over. */
  async function whileGone(key: string, use: () => Promise<void>): Promise<void> {
    const slot = await cluster.slotOf(key)
    const port = await cluster.ownerOf(slot)
    const gone = cluster.nodes.find((node) => node.port === port) as RedisServer
    process.kill(gone.pid, 'SIGSTOP')
    try {
      await use()
    } finally {
      process.kill(gone.pid, 'SIGCONT')
    }
    await until('it is a replica', async () =>
      String(await ask(port, 'INFO', 'replication')).includes('master_link_status:up'),
    )
  }

  const ways = new Set(['ioredis', 'the lowest ioredis', 'node-redis', 'the lowest node-redis'])
  test.each(waysOfClusters.filter(([name]) => ways.has(name)))(
    '%s: is replaced by its successor',
    async (_, open) => {
      const opened = await open(cluster.ports.slice(0, 2))
      onTestFinished(() => opened.close())
      const key = await keyIn(cluster, (slot) => slot > 11_000)
      await echo(opened.driver, key, 'before')

      await whileGone(key, async () => {
        let isAnswered = false
        const tryOnce = (): void => {
          const noting = (): void => {
            isAnswered = true
          }
          echo(opened.driver, key, 'after').then(noting, () => undefined)
        }
        const trying = setInterval(tryOnce, 200)
        onTestFinished(() => clearInterval(trying))
        await until('it is answered', async () => isAnswered, 40_000)
      })
    },
    90_000,
  )
})

async function keyIn(
  cluster: Pick<RedisCluster, 'slotOf'>,
  fits: (slot: number) => boolean,
): Promise<string> {
  for (;;) {
    const key = randomUUID()
    if (fits(await cluster.slotOf(key))) return key
  }
}
