// How the connections that listen prove themselves, and when they do not.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { createCluster, createSentinel } from 'redis'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Driver, Listener } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'
import { ask, askFields, until, withClient } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { startOneAddress } from '../servers/one-address.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { at, type OpenCluster, opened, waysToOpen } from './client.ts'

let reported: string[]

beforeEach(() => {
  reported = []
})

const listener: Listener = {
  onMessage: (message) => reported.push(message),
  onLost: () => reported.push('lost'),
  onGap: () => reported.push('gap'),
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

test('a process that only listens follows its address to the new primary, even when that changes late', async () => {
  const pair = await startOneAddress()
  onTestFinished(() => pair.stop())
  const driver = driverOn(pair.proxy.port, leavesReplicas)
  await driver.subscribe('news', listener)

  await pair.switchover()
  await until('the driver doubts its line', async () => !driver.healthy())
  pair.follow()
  await until('the new primary counts it', async () => (await subscribers(pair.primary.port, 'news')) === 1)

  await until('the gap is reported', async () => reported.at(-1) === 'gap')
  expect(reported[0]).toBe('lost')
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

const clinging = (await waysToOpen('sentinels')).filter(([name]) => name.endsWith('ioredis'))

test.each(clinging)(
  'when Sentinel names another primary than its commands use, %s listens where its commands go',
  async (_, open) => {
    const group = await startSentinels({ replicas: 1 })
    onTestFinished(() => group.stop())
    const old = group.primary
    const { driver, close } = await open(group.sentinelPorts, group.masterName)
    onTestFinished(close)
    await driver.subscribe('news', listener)
    // Sentinel may not make it a replica, so the client is not notified.
    await ask(old.port, 'ACL', 'SETUSER', 'default', '-replicaof', '-slaveof')
    await group.switchover()

    await ask(old.port, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until('the gap is reported', async () => reported.at(-1) === 'gap')
    await driver.subscribe('more', listener)
    await until('the driver is healthy', async () => driver.healthy())
    expect(await subscribers(old.port, 'news')).toBe(1)
    expect(await subscribers(old.port, 'more')).toBe(1)

    await ask(old.port, 'ACL', 'SETUSER', 'default', '+@all')
    await ask(old.port, 'REPLICAOF', '127.0.0.1', group.primary.port)
    await until(
      'the new primary counts it',
      async () => (await subscribers(group.primary.port, 'news')) === 1,
    )
  },
)

describe.each(await waysToOpen('clusters'))('%s', (name, open) => {
  // ioredis 5 takes what the server says of it for an answer, and gives the line up.
  const tellsNoSlot = name === 'the lowest ioredis'

  test('a subscription stays while the keys of its slot are moved, and follows after that', async () => {
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
    expect(reported).toEqual([])
    expect(driver.healthy()).toBe(true)

    await cluster.finishMove(slot, from, to)
    await until('the gap is reported', async () => reported.at(-1) === 'gap')
    expect(reported[0]).toBe('lost')
    await until('the new owner counts it', async () => (await shardSubscribers(to, channel)) === 1)
    await until('the driver is healthy', async () => driver.healthy())
  })

  test('a message that is published while the slot of another channel moves is received once', async () => {
    const { driver, cluster, from, to, stays, leaves } = await twoOnOneLine(open)
    await driver.subscribe(leaves, deaf)

    await giveSlot(await cluster.slotOf(leaves), { from, to }, (give) => [
      ['SPUBLISH', stays, 'before'],
      give,
      ['SPUBLISH', stays, 'after'],
    ])
    await until('the new owner counts it', async () => (await shardSubscribers(to, leaves)) === 1)
    await until('the driver is healthy', async () => driver.healthy())
    await ask(from, 'SPUBLISH', stays, 'later')
    await until('it hears on', async () => reported.includes('later'))

    expect(reported.filter((word) => word !== 'lost' && word !== 'gap')).toEqual(['before', 'after', 'later'])
  })

  test('many channels whose slot moves are received elsewhere, without a warning of too many listeners', async () => {
    const { driver, cluster, from, to, leaves } = await twoOnOneLine(open)
    const warned: string[] = []
    const note = ({ message }: Error): void => void warned.push(message)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const channels = Array.from({ length: 12 }, (_, n) => `${leaves}-${n}`)
    await Promise.all(channels.map((channel) => driver.subscribe(channel, deaf)))

    await giveSlot(await cluster.slotOf(leaves), { from, to })
    for (const channel of channels) {
      await until('the new owner counts it', async () => (await shardSubscribers(to, channel)) === 1)
    }

    expect(warned).toEqual([])
  })

  test.skipIf(tellsNoSlot)('a move of the slot of another channel goes unnoticed', async () => {
    const { driver, cluster, from, to, leaves } = await twoOnOneLine(open)
    await driver.subscribe(leaves, deaf)

    await giveSlot(await cluster.slotOf(leaves), { from, to })
    await until('the new owner counts it', async () => (await shardSubscribers(to, leaves)) === 1)

    expect(reported).toEqual([])
  })

  test.skipIf(tellsNoSlot)(
    'a channel whose slot is not where the client believes disturbs no other one on its connection',
    async () => {
      const { driver, cluster, from, to, leaves } = await twoOnOneLine(open)
      await giveSlot(await cluster.slotOf(leaves), { from, to })

      await driver.subscribe(leaves, deaf)
      await until('the old owner has refused all it was asked', async () => (await moves(from)) >= 2)
      await sleep(50)

      expect(await shardSubscribers(to, leaves)).toBe(1)
      expect(reported).toEqual([])
    },
  )
})

/** A driver that listens to one of two channels of a node, whose slots differ. */
async function twoOnOneLine(open: OpenCluster) {
  const cluster = await startCluster({ masters: 2 })
  onTestFinished(() => cluster.stop())
  const { driver, close } = await open(cluster.ports)
  onTestFinished(close)
  const [from = 0, to = 0] = cluster.ports
  const [stays, leaves] = await channelsAt(cluster, from)
  await driver.subscribe(stays, listener)
  return { driver, cluster, from, to, stays, leaves }
}

/** How often a node has answered MOVED. */
async function moves(port: number): Promise<number> {
  const stats = await askFields(port, 'INFO', 'errorstats')
  return Number(/count=(\d+)/.exec(stats.get('errorstat_MOVED') ?? '')?.[1] ?? 0)
}

const deaf: Listener = { onMessage: () => undefined, onGap: () => undefined }

/** Two channels of one node, in two slots. */
async function channelsAt(cluster: RedisCluster, port: number): Promise<[string, string]> {
  const names = Array.from({ length: 30 }, (_, n) => `{${n}}:news`)
  const owners = await Promise.all(names.map(async (name) => cluster.ownerOf(await cluster.slotOf(name))))
  const [first = '', second = ''] = names.filter((_, n) => owners[n] === port)
  return [first, second]
}

/** Gives an empty slot away, among other commands, which the server takes in one turn of its loop. */
async function giveSlot(
  slot: number,
  { from, to }: { from: number; to: number },
  among: (give: string[]) => string[][] = (give) => [give],
): Promise<void> {
  const give = ['SETSLOT', String(slot), 'NODE', String(await ask(to, 'CLUSTER', 'MYID'))]
  await ask(to, 'CLUSTER', ...give)
  await withClient(from, async (client) => {
    await client.connect()
    const together = client.pipeline()
    for (const [command = '', ...args] of among(['CLUSTER', ...give])) together.call(command, ...args)
    await together.exec()
  })
}

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

test('a user who may not ask for its node keeps the connection that answers', async () => {
  const port = await ownServer()
  const rights = ['~*', '&*', '+@all', '-info', '-hdel', '-ping']
  await ask(port, 'ACL', 'SETUSER', 'mute', 'on', '>secret', ...rights)
  const driver = driverOn(port, { username: 'mute', password: 'secret' })

  await driver.subscribe('news', listener)
  await until('it was asked for a sign of life twice', async () => (await refusals(port, 'ping')) >= 2)
  await ask(port, 'PUBLISH', 'news', 'heard')
  await until('it heard', async () => reported.includes('heard'))

  expect(reported).toEqual(['heard'])
  expect(driver.healthy()).toBe(true)
  expect(await refusals(port, 'hdel')).toBe(1)
})

/** How often the server has refused a command. */
async function refusals(port: number, command: string): Promise<number> {
  const stats = await askFields(port, 'INFO', 'commandstats')
  return Number(/rejected_calls=(\d+)/.exec(stats.get(`cmdstat_${command}`) ?? '')?.[1] ?? 0)
}

test('nothing is asked without a subscription, nor after close', async () => {
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
  const count = async () => (await calls(port, 'ping')) + (await calls(port, 'hdel'))
  const before = await count()
  await sleep(seconds * 1000)
  return (await count()) - before
}
