// Each way to make a driver, for each kind of deployment.

import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import type { Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import type { OpenedDriver } from '../../src/testing/driver-suite.ts'

const HOST = '127.0.0.1'
const quiet = () => {}

export type OpenSingle = (port: number) => Promise<OpenedDriver>
export type OpenCluster = (ports: readonly number[]) => Promise<OpenedDriver>
export type OpenSentinel = (ports: readonly number[], name: string) => Promise<OpenedDriver>

export const singles: Record<string, OpenSingle> = {
  ioredis: async (port) => withIoredis(new Redis({ host: HOST, port })),
  'ioredis that does not resend': async (port) =>
    withIoredis(new Redis({ host: HOST, port, autoResendUnfulfilledCommands: false })),
  'ioredis with auto-pipelining, on RESP2': async (port) =>
    withIoredis(new Redis({ host: HOST, port, enableAutoPipelining: true, protocol: 2 })),
  'node-redis': (port) =>
    withNodeRedis(createClient({ socket: { host: HOST, port, reconnectStrategy: 20 } })),
  'node-redis on RESP2': (port) =>
    withNodeRedis(
      createClient({ url: `redis://${HOST}:${port}`, RESP: 2, socket: { reconnectStrategy: 20 } }),
    ),
}

export const clusters: Record<string, OpenCluster> = {
  ioredis: async (ports) => withIoredis(new Cluster(at(ports))),
  'ioredis with auto-pipelining': async (ports) =>
    withIoredis(new Cluster(at(ports), { enableAutoPipelining: true, redisOptions: { protocol: 2 } })),
  'ioredis whose nodes reconnect without resending': async (ports) =>
    withIoredis(
      new Cluster(at(ports), {
        clusterNodeRetryStrategy: () => 20,
        redisOptions: { autoResendUnfulfilledCommands: false },
      }),
    ),
  'node-redis': (ports) =>
    withNodeRedis(
      createCluster({
        rootNodes: at(ports).map((socket) => ({ socket })),
        defaults: { socket: { reconnectStrategy: 20 } },
      }),
    ),
}

export const sentinels: Record<string, OpenSentinel> = {
  ioredis: async (ports, name) => withIoredis(new Redis({ sentinels: at(ports), name })),
  'node-redis': (ports, name) =>
    withNodeRedis(
      createSentinel({
        name,
        sentinelRootNodes: at(ports),
        nodeClientOptions: { socket: { reconnectStrategy: 20 } },
      }),
    ),
}

function at(ports: readonly number[]): { host: string; port: number }[] {
  return ports.map((port) => ({ host: HOST, port }))
}

async function withIoredis(client: Redis | Cluster): Promise<OpenedDriver> {
  client.on('error', quiet)
  await client.call('PING')
  return opened(
    ioredis(client),
    () => client.call('PING'),
    async () => client.disconnect(),
  )
}

interface AnyNodeRedis {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  ping(): Promise<unknown>
  destroy(): unknown
}

async function withNodeRedis(client: AnyNodeRedis & Parameters<typeof nodeRedis>[0]): Promise<OpenedDriver> {
  client.on('error', quiet)
  await client.connect()
  return opened(
    nodeRedis(client),
    () => client.ping(),
    async () => void (await client.destroy()),
  )
}

function opened(
  driver: Driver,
  ping: () => Promise<unknown>,
  closeClient: () => Promise<void>,
): OpenedDriver {
  const close = async () => {
    await driver.close()
    await closeClient()
  }
  return { driver, ping, close }
}
