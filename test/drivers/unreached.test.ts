// A node of a cluster that its clients cannot reach for a while.

import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import * as ioredisNewest from 'ioredis'
import * as ioredisLowest from 'ioredis-lowest'
import { perilune } from 'perilune'
import * as nodeRedisNewest from 'redis'
import * as nodeRedisLowest from 'redis-lowest'
import { expect, onTestFinished, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { until } from '../servers/ask.ts'
import { startCluster } from '../servers/cluster.ts'
import { at, HOST } from './client.ts'
import { someOf } from '../proof.ts'

const LAST_SLOT = 16_383
/** Of a lock whose keys are in the slots of the second master. */
const NAME = Array.from({ length: 100 }, (_, n) => `lock-${n}`).find(
  (name) => slotOf(`{lock:${name}}`) > LAST_SLOT / 2,
)

interface Place {
  host: string
  port: number
}
interface Terms {
  ports: readonly number[]
  placeOf?: (address: string) => Place
  givesUp?: boolean
}
type Open = (terms: Terms) => Promise<Driver>

/** Closes every connection at once. */
async function startRefusing(): Promise<{ port: number; tries(): number }> {
  let tries = 0
  const server: Server = createServer((socket) => {
    tries++
    socket.destroy()
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { port: Number(Reflect.get(Object(server.address()), 'port')), tries: () => tries }
}

const openIoredis =
  (Cluster: typeof ioredisNewest.Cluster): Open =>
  async ({ ports, placeOf }) => {
    const client = new Cluster(at(ports), placeOf === undefined ? {} : { natMap: placeOf })
    client.on('error', () => undefined)
    onTestFinished(() => client.disconnect())
    return ioredis(client)
  }

const openNodeRedis =
  (createCluster: typeof nodeRedisNewest.createCluster): Open =>
  async ({ ports, placeOf, givesUp }) => {
    const rootNodes = at(ports).map((socket) => ({ socket }))
    const defaults = givesUp ? { socket: { reconnectStrategy: false as const } } : {}
    const client = createCluster({ rootNodes, defaults, ...(placeOf && { nodeAddressMap: placeOf }) })
    client.on('error', () => undefined)
    await client.connect()
    onTestFinished(() => client.destroy())
    return nodeRedis(client)
  }

/** Whether a call on the second master succeeds. */
function callsOn(driver: Driver): () => Promise<boolean> {
  const redis = perilune(driver, { deadline: '2s' })
  onTestFinished(() => redis.close())
  return async () => (await redis.lock(NAME ?? '').inspect()).holders.length === 0
}

const clients: [string, Open][] = [
  ['ioredis', openIoredis(ioredisNewest.Cluster)],
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of what is used here, both versions have the same
  ['the lowest ioredis', openIoredis(ioredisLowest.Cluster as unknown as typeof ioredisNewest.Cluster)],
  ['node-redis', openNodeRedis(nodeRedisNewest.createCluster)],
  [
    'the lowest node-redis',
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    openNodeRedis(nodeRedisLowest.createCluster as unknown as typeof nodeRedisNewest.createCluster),
  ],
]

test.each(someOf(clients, 2))(
  '%s: a client that could not reach the new master reaches the next one',
  async (_, open) => {
    const cluster = await startCluster({ masters: 2, replicasPerMaster: 1 })
    onTestFinished(() => cluster.stop())
    const refusing = await startRefusing()
    const replica = cluster.ports[3]
    const placeOf = (address: string): Place => {
      const port = Number(address.slice(address.lastIndexOf(':') + 1))
      return { host: HOST, port: port === replica ? refusing.port : port }
    }
    const works = callsOn(await open({ ports: cluster.ports, placeOf }))

    await until('the first master is reached', works)
    await cluster.switchover(LAST_SLOT)
    const tried = refusing.tries()
    works().catch(() => undefined)
    await until('it tries to reach the new master', async () => refusing.tries() > tried)
    await cluster.switchover(LAST_SLOT)

    await until('the next one is reached', works, 40_000)
  },
)

test.each(someOf(clients, 2))(
  '%s: a client that gave a node up on request connects to it when it is back',
  async (_, open) => {
    const cluster = await startCluster({ masters: 2 })
    onTestFinished(() => cluster.stop())
    const works = callsOn(await open({ ports: cluster.ports, givesUp: true }))
    await until('the node is reached', works)

    await cluster.nodes[1]?.kill()
    await expect(works()).rejects.toThrow()
    await cluster.nodes[1]?.restart()

    await until('it is reached again', works)
  },
)
