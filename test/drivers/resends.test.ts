// Clusters and Sentinels: a call whose answer is lost is not sent again by the client. Sent again it might run in a later
// life of the server. See resets.test.ts for a single server.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { Redis as LowestRedis } from 'ioredis-lowest'
import { createSentinel } from 'redis'
import { createSentinel as createLowestSentinel } from 'redis-lowest'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { callOf, failureOf, scriptOf, untilAnswered } from '../../src/testing/driver-calls.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { freePort } from '../servers/ports.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { announce } from './announced.ts'
import { HOST, waysToOpen } from './client.ts'

const COUNT = scriptOf("return redis.call('INCR', KEYS[1])")
const LOOK = scriptOf("return redis.call('GET', KEYS[1])")

/** How often a call happened whose first answer was lost. */
async function countOfLost(driver: Driver, proxies: readonly Proxy[], key: string): Promise<unknown> {
  await untilAnswered(driver, callOf(LOOK, [key]))
  for (const proxy of proxies) proxy.cutReplies(1, /INCR/)
  const failure = await failureOf(driver.run(callOf(COUNT, [key])))
  for (const proxy of proxies) proxy.heal()
  expect(failure).toMatchObject({ sent: true })
  return untilAnswered(driver, callOf(LOOK, [key]))
}

describe('a cluster', async () => {
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

  test.each(await waysToOpen('clusters'))('%s', async (name, open) => {
    const { driver, close } = await open(proxies.map(({ port }) => port))
    try {
      expect(await countOfLost(driver, proxies, name)).toBe('1')
    } finally {
      await close()
    }
  })

  // It would happen after its own repetition, and after what followed that: a clear would remove what came since.
  test.each(await waysToOpen('clusters'))('%s sends nothing later that was given up', async (name, open) => {
    const { driver, close } = await open(proxies.map(({ port }) => port))
    const key = `${name} given up`
    await untilAnswered(driver, callOf(LOOK, [key]))
    const nowhere = await freePort()
    for (const proxy of proxies) proxy.leadTo(nowhere)
    for (const proxy of proxies) proxy.resetAll()
    // What is written before the reset is read may happen.
    await sleep(20)
    const runs: Promise<boolean>[] = []
    for (let n = 0; n < 20; n += 1) {
      runs.push(
        driver.run(callOf(COUNT, [key])).then(
          () => true,
          () => false,
        ),
      )
      await sleep(5)
    }
    for (const [at, proxy] of proxies.entries()) proxy.leadTo(cluster.ports[at] ?? 0)
    const answered = (await Promise.all(runs)).filter(Boolean).length
    await untilAnswered(driver, callOf(LOOK, [key]))
    await sleep(500)

    try {
      // A few may happen at once whose answer is lost. Otherwise nearly all would have happened by now.
      const happened = Number(await untilAnswered(driver, callOf(LOOK, [key])))
      expect(happened - answered).toBeLessThanOrEqual(3)
    } finally {
      await close()
    }
  })

  const ofIoredis = (await waysToOpen('clusters')).filter(([name]) => name.includes('ioredis'))
  test.each(ofIoredis)('%s sends a call that it need not keep, however late it is', async (_, open) => {
    const { driver, close } = await open(proxies.map(({ port }) => port))
    try {
      await untilAnswered(driver, callOf(LOOK, ['late']))
      const late = { ...callOf(scriptOf("return 'sent'"), ['late']), by: performance.now() - 5000 }
      expect(String(await driver.run(late))).toBe('sent')
    } finally {
      await close()
    }
  })
})

describe('Sentinels', () => {
  let sentinels: Sentinels
  let proxy: Proxy

  beforeAll(async () => {
    sentinels = await startSentinels({ replicas: 0 })
    proxy = await startProxy(sentinels.primary.port)
  }, 60_000)
  afterAll(async () => {
    await proxy.stop()
    await sentinels.stop()
  })

  const addresses = () => sentinels.sentinelPorts.map((port) => ({ host: HOST, port }))
  const throughProxy = () => ({ [`${HOST}:${sentinels.primary.port}`]: { host: HOST, port: proxy.port } })
  const ofIoredis = (Client: typeof Redis) => {
    const client = new Client({
      sentinels: addresses(),
      name: sentinels.masterName,
      natMap: throughProxy(),
    })
    client.on('error', () => undefined)
    return { driver: ioredis(client), end: () => client.disconnect() }
  }
  const ofNodeRedis = async (create: typeof createSentinel) => {
    const client = create({
      name: sentinels.masterName,
      sentinelRootNodes: addresses(),
      nodeAddressMap: throughProxy(),
    })
    client.on('error', () => undefined)
    await client.connect()
    return { driver: nodeRedis(client), end: () => client.destroy() }
  }

  test.each([
    ['ioredis', () => ofIoredis(Redis)],
    ['the lowest ioredis', () => ofIoredis(LowestRedis as never)],
    ['node-redis', () => ofNodeRedis(createSentinel)],
    ['the lowest node-redis', () => ofNodeRedis(createLowestSentinel as never)],
  ])('%s', async (name, open) => {
    const { driver, end } = await open()
    try {
      expect(await countOfLost(driver, [proxy], name)).toBe('1')
    } finally {
      await driver.close()
      await end()
    }
  })
})
