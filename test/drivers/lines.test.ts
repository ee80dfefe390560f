// How the connections that listen prove themselves, and when they do not.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createCluster, createSentinel } from 'redis'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Driver, Listener } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import { ask, askFields, until } from '../servers/ask.ts'
import { startCluster } from '../servers/cluster.ts'
import { startOneAddress } from '../servers/one-address.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { at, opened, waysToOpen } from './client.ts'

let told: string[]

beforeEach(() => {
  told = []
})

const listener: Listener = {
  onMessage: (message) => told.push(message),
  onLost: () => told.push('lost'),
  onGap: () => told.push('gap'),
}

/** How many a server counts as subscribers of the channel. */
async function subscribers(port: number, channel: string, question = 'NUMSUB'): Promise<number> {
  const answer = await ask(port, 'PUBSUB', question, channel)
  return Array.isArray(answer) ? Number(answer[1]) : Number.NaN
}

function shardSubscribers(port: number, channel: string): Promise<number> {
  return subscribers(port, channel, 'SHARDNUMSUB')
}

async function ownServer(): Promise<number> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return server.port
}

function driverOn(port: number, options: object = {}): Driver {
  const client = new Redis({ host: '127.0.0.1', port, ...options })
  client.on('error', () => undefined)
  const driver = ioredis(client)
  onTestFinished(async () => {
    await driver.close()
    client.disconnect()
  })
  return driver
}

/** As docs of ioredis and of clouds advise. */
const leavesReplicas = { reconnectOnError: (error: Error) => error.message.includes('READONLY') }

test('a process that only listens follows its address to the new primary, also when that leads there late', async () => {
  const pair = await startOneAddress()
  onTestFinished(() => pair.stop())
  const driver = driverOn(pair.proxy.port, leavesReplicas)
  await driver.subscribe('news', listener)

  await pair.switchover()
  await until('the driver doubts its line', async () => !driver.healthy())
  pair.follow()
  await until('the new primary counts it', async () => (await subscribers(pair.primary.port, 'news')) === 1)

  await until('it is told of the gap', async () => told.at(-1) === 'gap')
  expect(told[0]).toBe('lost')
  await until('the driver is healthy', async () => driver.healthy())
  expect(await subscribers(pair.replica.port, 'news')).toBe(0)
})

/** Clients that hear from Sentinel of a new primary. */
const attentive: [string, (group: Sentinels) => Promise<OpenedDriver>][] = [
  [
    'ioredis with a failoverDetector',
    async ({ masterName: name, sentinelPorts }) => {
      const client = new Redis({ sentinels: at(sentinelPorts), name, failoverDetector: true })
      client.on('error', () => undefined)
      return opened(
        ioredis(client),
        () => client.ping(),
        () => client.disconnect(),
      )
    },
  ],
  [
    'node-redis',
    async ({ masterName: name, sentinelPorts }) => {
      const client = createSentinel({ name, sentinelRootNodes: at(sentinelPorts) })
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

test.each(attentive)(
  '%s listens at the new primary before Sentinel has demoted the old one',
  async (_, open) => {
    const group = await startSentinels({ replicas: 1 })
    onTestFinished(() => group.stop())
    const { driver, close } = await open(group)
    onTestFinished(close)
    await driver.subscribe('news', listener)
    const old = group.primary

    await group.switchover()
    await until(
      'the new primary counts it',
      async () => (await subscribers(group.primary.port, 'news')) === 1,
    )

    expect((await askFields(old.port, 'INFO', 'replication')).get('role')).toBe('master')
  },
)

describe.each(await waysToOpen('clusters'))('%s', (_, open) => {
  test('a line stays where it is while the keys of its slot are moved, and follows once they are', async () => {
    const cluster = await startCluster({ masters: 2 })
    onTestFinished(() => cluster.stop())
    const { driver, close } = await open(cluster.ports)
    onTestFinished(close)
    const channel = '{slot}:news'
    const slot = await cluster.slotOf(channel)
    const from = await cluster.ownerOf(slot)
    const to = cluster.ports.find((port) => port !== from) ?? from
    await ask(from, 'SET', '{slot}:key', 'value')
    await driver.subscribe(channel, listener)

    await cluster.beginMove(slot, from, to)
    await cluster.moveKeys(slot, from, to)
    await sleep(2500)
    expect(told).toEqual([])
    expect(driver.healthy()).toBe(true)

    await cluster.finishMove(slot, from, to)
    await until('it is told of the gap', async () => told.at(-1) === 'gap')
    expect(told[0]).toBe('lost')
    await until('the new owner counts it', async () => (await shardSubscribers(to, channel)) === 1)
    await until('the driver is healthy', async () => driver.healthy())
  })
})

test('node-redis listens at the address that its nodes are mapped to', async () => {
  const cluster = await startCluster({ masters: 1 })
  onTestFinished(() => cluster.stop())
  const [port = 0] = cluster.ports
  const proxy = await startProxy(port)
  onTestFinished(() => proxy.stop())
  const client = createCluster({
    rootNodes: at([proxy.port]).map((socket) => ({ socket })),
    nodeAddressMap: () => ({ host: '127.0.0.1', port: proxy.port }),
  })
  client.on('error', () => undefined)
  await client.connect()
  const driver = nodeRedis(client)
  onTestFinished(async () => {
    await driver.close()
    client.destroy()
  })
  const before = proxy.openConnections

  await driver.subscribe('{slot}:news', listener)

  expect(proxy.openConnections).toBe(before + 1)
})

test('a user who may not ask who listens keeps the line that answers', async () => {
  const port = await ownServer()
  const rights = ['~*', '&*', '+@all', '-pubsub', '-hdel', '-ping']
  await ask(port, 'ACL', 'SETUSER', 'mute', 'on', '>secret', ...rights)
  const driver = driverOn(port, { username: 'mute', password: 'secret' })

  await driver.subscribe('news', listener)
  await until('it was asked for a sign of life twice', async () => (await refusals(port, 'ping')) >= 2)
  await ask(port, 'PUBLISH', 'news', 'heard')
  await until('it heard', async () => told.includes('heard'))

  expect(told).toEqual(['heard'])
  expect(driver.healthy()).toBe(true)
  expect(await refusals(port, 'pubsub|numsub')).toBe(1)
})

/** How often the server has refused a command. */
async function refusals(port: number, command: string): Promise<number> {
  const stats = await askFields(port, 'INFO', 'commandstats')
  return Number(/rejected_calls=(\d+)/.exec(stats.get(`cmdstat_${command}`) ?? '')?.[1] ?? 0)
}

test('nothing is asked while there is no subscription, nor after close', async () => {
  const port = await ownServer()
  const driver = driverOn(port)
  const subscription = await driver.subscribe('news', listener)
  await until('it proves itself', async () => (await calls(port, 'ping')) >= 2)

  await subscription.close()
  const idle = await callsInSeconds(port, 2)
  await driver.subscribe('news', listener)
  await driver.close()
  const closed = await callsInSeconds(port, 2)

  expect([idle, closed]).toEqual([0, 0])
})

async function calls(port: number, command: string): Promise<number> {
  const stats = await askFields(port, 'INFO', 'commandstats')
  return Number(/calls=(\d+)/.exec(stats.get(`cmdstat_${command}`) ?? '')?.[1] ?? 0)
}

/** The questions of a line; one may be under way yet. */
async function callsInSeconds(port: number, seconds: number): Promise<number> {
  await sleep(100)
  const count = async () => (await calls(port, 'ping')) + (await calls(port, 'pubsub|numsub'))
  const before = await count()
  await sleep(seconds * 1000)
  return (await count()) - before
}
