import * as newest from 'redis'
import * as lowest from 'redis-lowest'
import { nodeRedis } from '../../../src/drivers/node-redis.ts'
import type { OpenedDriver } from '../../../src/testing/driver-suite.ts'
import { at, type Client, HOST, opened } from '../client.ts'

type Place = ReturnType<typeof at>[number]

interface Pace {
  reconnectStrategy: number
}

interface SentinelOptions {
  name: string
  sentinelRootNodes: Place[]
  nodeClientOptions: { socket: Pace }
}

const socket: Pace = { reconnectStrategy: 20 }

export const client: Client = {
  singles: {
    'node-redis': (port) => open(newest.createClient({ socket: { ...socket, host: HOST, port } })),
    'node-redis on RESP2': (port) =>
      open(newest.createClient({ url: `redis://${HOST}:${port}`, RESP: 2, socket: { ...socket } })),
    'the lowest node-redis': (port) => open(lowest.createClient({ socket: { ...socket, host: HOST, port } })),
  },
  clusters: {
    'node-redis': (ports) => open(newest.createCluster(clusterOf(ports))),
    'the lowest node-redis': (ports) => open(lowest.createCluster(clusterOf(ports))),
  },
  sentinels: {
    'node-redis': (ports, name) => open(newest.createSentinel(sentinelOf(ports, name))),
    'the lowest node-redis': (ports, name) => open(lowest.createSentinel(sentinelOf(ports, name))),
  },
}

function clusterOf(ports: readonly number[]): { rootNodes: { socket: Place }[]; defaults: { socket: Pace } } {
  return { rootNodes: at(ports).map((node) => ({ socket: node })), defaults: { socket } }
}

function sentinelOf(ports: readonly number[], name: string): SentinelOptions {
  return { name, sentinelRootNodes: at(ports), nodeClientOptions: { socket } }
}

interface AnyConnection {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  ping(): Promise<unknown>
  destroy(): unknown
}

async function open(connection: AnyConnection & Parameters<typeof nodeRedis>[0]): Promise<OpenedDriver> {
  connection.on('error', () => undefined)
  await connection.connect()
  return opened(
    nodeRedis(connection),
    () => connection.ping(),
    () => connection.destroy(),
  )
}
