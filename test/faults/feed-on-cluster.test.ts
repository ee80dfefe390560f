// Feeds keep their promises while slots move and nodes fail over.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Feed, perilune } from 'perilune'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type OpenCluster, waysToOpen } from '../drivers/client.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { startSentinels } from '../servers/sentinels.ts'

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

async function onCluster(open: OpenCluster, cluster: RedisCluster): Promise<Feed<number>> {
  const { driver, close } = await open(cluster.ports)
  const redis = perilune(driver, { deadline: '15s' })
  onTestFinished(async () => {
    await redis.close()
    await close()
  })
  return redis.feed<number>(randomUUID())
}

test.each(await waysToOpen('clusters'))(
  'with %s, feeds in all slots work and their readers are woken',
  async (_, open) => {
    const { driver, close } = await open(inject('clusterPorts'))
    const redis = perilune(driver, { deadline: '10s' })
    onTestFinished(async () => {
      await redis.close()
      await close()
    })
    await redis.preload()
    const feeds = numbers(12).map(() => redis.feed<number>(randomUUID(), { maxClaims: 1 }))

    await Promise.all(
      feeds.map(async (feed, n) => {
        await feed.append(n, { ttl: '1h' })
        const { next } = await feed.read()
        const waiting = feed.read({ after: next, wait: '20s' })
        await sleep(200)
        await feed.append(n + 1)
        expect((await waiting).messages.map(({ body }) => body)).toEqual([n + 1])
        await (await feed.claim())?.release()
        expect(await feed.claim()).toBeNull()
        expect((await feed.deadLetters.read()).messages).toHaveLength(2)
        expect(await feed.clear()).toBe(true)
      }),
    )
  },
)

test.each(await waysToOpen('clusters'))(
  'with %s, appends, reads and claims continue while their slot moves',
  { timeout: 60_000 },
  async (_, open) => {
    const cluster = await startCluster()
    onTestFinished(() => cluster.stop())
    const feed = await onCluster(open, cluster)
    await feed.append(-1)
    const slot = await cluster.slotOf(`perilune:{feed:${feed.name}}:meta`)
    let moving = true

    const load = (async () => {
      const sent: number[] = []
      for (let n = 0; moving || n < 100; n++) {
        await feed.append(n)
        sent.push(n)
        if (n % 10 === 0) await (await feed.claim({ limit: 2 }))?.release()
      }
      return sent
    })()
    for (let round = 0; round < 3; round++) {
      const from = await cluster.ownerOf(slot)
      const to = cluster.ports.find((port) => port !== from) ?? from
      await cluster.beginMove(slot, from, to)
      await cluster.moveKeys(slot, from, to, 1)
      await sleep(100)
      await cluster.moveKeys(slot, from, to)
      await cluster.finishMove(slot, from, to)
      await sleep(100)
    }
    moving = false
    const sent = await load

    const seen: number[] = []
    for await (const { body } of feed.tail({ limit: 500 })) {
      seen.push(body)
      if (seen.length === sent.length + 1) break
    }
    expect(seen).toEqual([-1, ...sent])
  },
)

test.each(await waysToOpen('sentinels'))(
  'with %s, a failover keeps all replicated messages and continues',
  { timeout: 60_000 },
  async (_, open) => {
    const group = await startSentinels()
    onTestFinished(() => group.stop())
    const { driver, close } = await open(group.sentinelPorts, group.masterName)
    const redis = perilune(driver, { deadline: '15s' })
    onTestFinished(async () => {
      await redis.close()
      await close()
    })
    const feed = redis.feed<number>(randomUUID())
    await feed.appendMany(numbers(50).map((body) => ({ body })))
    expect(await driver.wait(`perilune:{feed:${feed.name}}:log`, 1, 5000)).toBe(1)
    const { next } = await feed.read({ limit: 1000 })

    await group.failover()
    await feed.append(50)

    const page = await feed.read({ after: next, limit: 1000 })
    expect(page.messages.map(({ body }) => body)).toEqual([50])
    expect((await feed.inspect()).total).toBe(51)
  },
)
