import { createClient, createCluster, createSentinel } from 'redis'
import { nodeRedis } from '../../../src/drivers/node-redis.ts'
import type { OpenedDriver } from '../../../src/testing/driver-suite.ts'
import { at, type Client, HOST, opened } from '../client.ts'

const socket = { reconnectStrategy: 20 }

export const client: Client = {
  singles: {
    'node-redis': (port) => open(createClient({ socket: { host: HOST, port, ...socket } })),
    'node-redis on RESP2': (port) => open(createClient({ url: `redis://${HOST}:${port}`, RESP: 2, socket })),
  },
  clusters: {
    'node-redis': (ports) =>
      open(createCluster({ rootNodes: at(ports).map((node) => ({ socket: node })), defaults: { socket } })),
  },
  sentinels: {
    'node-redis': (ports, name) =>
      open(createSentinel({ name, sentinelRootNodes: at(ports), nodeClientOptions: { socket } })),
  },
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
