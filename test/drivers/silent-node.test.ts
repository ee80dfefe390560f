// A silent node of a cluster does not keep clients from the other nodes.

import { randomUUID } from 'node:crypto'
import * as newest from 'ioredis'
import * as lowest from 'ioredis-lowest'
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
import { at } from './client.ts'

let cluster: RedisCluster
let silent: RedisServer

beforeAll(async () => {
  cluster = await startCluster({ masters: 3 })
  silent = cluster.nodes[2] as RedisServer
  for (const port of cluster.ports) await ask(port, 'CONFIG', 'SET', 'cluster-require-full-coverage', 'no')
  process.kill(silent.pid, 'SIGSTOP')
})
afterAll(async () => {
  process.kill(silent.pid, 'SIGCONT')
  await cluster.stop()
})

/** The name of a unit of this kind whose slot fits. */
function nameOf(kind: 'lock' | 'feed', fits: (slot: number) => boolean): string {
  for (;;) {
    const name = randomUUID()
    if (fits(slotOf(`{${kind}:${name}}`))) return name
  }
}

const isOfFirst = (slot: number): boolean => slot < 5000
const isOfSilent = (slot: number): boolean => slot > 11_000

async function useTheOthers(driver: Driver): Promise<void> {
  const redis = perilune(driver)
  onTestFinished(() => redis.close())
  const lock = redis.lock(nameOf('lock', isOfFirst))

  const lease = await lock.acquire()
  setTimeout(() => void lease.release(), 100)
  const next = await lock.acquire({ wait: '5s' })

  await next.release()
  expect(driver.healthy()).toBe(true)
  for (let n = 0; n < 200; n += 1) {
    const due = redis.feed(nameOf('feed', isOfSilent)).read()
    due.catch(() => undefined)
  }
  expect((await redis.feed(nameOf('feed', isOfFirst)).read()).messages).toEqual([])
}

test.each([
  ['ioredis', newest.Cluster],
  ['the lowest ioredis', lowest.Cluster],
] as [string, typeof newest.Cluster][])(
  '%s: the first call of a process, and a waiting one, are answered by the live nodes',
  async (_, Cluster) => {
    // That check asks any node, and waits for a silent one.
    const client = new Cluster(at(cluster.ports.slice(0, 1)), { enableReadyCheck: false })
    client.on('error', () => undefined)
    onTestFinished(() => client.disconnect())
    await useTheOthers(ioredis(client))
  },
  20_000,
)

test('node-redis that connects to nodes on demand: the same', async () => {
  const rootNodes = at(cluster.ports.slice(0, 1)).map((socket) => ({ socket }))
  const client = createCluster({ rootNodes, minimizeConnections: true })
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.destroy())
  await useTheOthers(nodeRedis(client))
}, 20_000)
