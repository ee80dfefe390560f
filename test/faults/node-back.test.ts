// One of two nodes of a cluster that were away is back: late requests of callers that gave up hold nothing there.

import { setTimeout as sleep } from 'node:timers/promises'
import { Cluster } from 'ioredis'
import { perilune } from 'perilune'
import { createCluster } from 'redis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { ask } from '../servers/ask.ts'
import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import type { RedisServer } from '../servers/redis.ts'

const NODES = 3

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({ masters: NODES })
  for (const port of cluster.ports) await ask(port, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
})
afterAll(() => cluster.stop())

/** Names of locks on the node of this place. */
function namesOn(node: number, count: number): string[] {
  const names: string[] = []
  for (let n = 0; names.length < count; n++) {
    const slot = slotOf(`{lock:${n}}`)
    if (slot % 5000 < 4000 && Math.floor(slot / (16_384 / NODES)) === node) names.push(String(n))
  }
  return names
}

function ioredisDriver(): Driver {
  const client = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })))
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  return ioredis(client)
}

async function nodeRedisDriver(): Promise<Driver> {
  const rootNodes = cluster.ports.map((port) => ({ socket: { host: '127.0.0.1', port } }))
  const client = createCluster({ rootNodes })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.destroy())
  return nodeRedis(client)
}

function pauseNode(node: number): () => void {
  const { pid } = cluster.nodes[node] as RedisServer
  process.kill(pid, 'SIGSTOP')
  const goOn = (): void => void process.kill(pid, 'SIGCONT')
  onTestFinished(goOn)
  return goOn
}

test.each([
  ['ioredis', ioredisDriver],
  ['node-redis', nodeRedisDriver],
] as const)(
  '%s: a lock requested without success is free once its node is back, though another stays away',
  async (namespace, driver) => {
    const redis = perilune(await driver(), { deadline: '500ms', namespace })
    onTestFinished(() => redis.close())
    const giveUp = (name: string): Promise<unknown> =>
      redis
        .lock(name, { lease: '10m' })
        .tryAcquire()
        .catch(() => undefined)
    const away = namesOn(0, 100)
    const [back = ''] = namesOn(1, 1)
    await (await redis.lock(back).acquire()).release()
    pauseNode(0)
    await Promise.all(away.map(giveUp))
    const goOn = pauseNode(1)
    await giveUp(back)
    await sleep(2000)

    goOn()

    const mode = async (): Promise<string> => (await redis.lock(back).inspect()).mode
    await expect.poll(() => mode().catch(() => 'unknown'), { timeout: 20_000 }).toBe('free')
  },
  60_000,
)
