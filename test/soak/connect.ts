import { Cluster, Redis } from 'ioredis'
import type { Driver } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient, createCluster } from 'redis'

export type ClientKind = 'ioredis' | 'node-redis'

/** The addresses of the servers; of a cluster, some of its nodes. */
export interface Place {
  ports: readonly number[]
  cluster: boolean
}

export interface Connection {
  driver: Driver
  /** Sends one command; the first word after it is its key. */
  command(name: string, key: string, ...rest: string[]): Promise<unknown>
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const quiet = (): void => undefined

/** Connects with a client that never gives up. */
export function connect(kind: ClientKind, place: Place): Promise<Connection> {
  return kind === 'ioredis' ? withIoredis(place) : withNodeRedis(place)
}

async function withIoredis({ ports, cluster }: Place): Promise<Connection> {
  const options = { maxRetriesPerRequest: null, retryStrategy: () => 50 }
  const client = cluster
    ? new Cluster(at(ports), { clusterRetryStrategy: () => 50 })
    : new Redis({ host: HOST, port: ports[0] ?? 0, ...options })
  client.on('error', quiet)
  const driver = ioredis(client)
  return {
    driver,
    command: (name, ...args) => client.call(name, args),
    close: async () => {
      await driver.close()
      client.disconnect()
    },
  }
}

async function withNodeRedis({ ports, cluster }: Place): Promise<Connection> {
  const socket = { reconnectStrategy: 50 }
  if (cluster) {
    const nodes = at(ports).map((node) => ({ socket: node }))
    const client = createCluster({ rootNodes: nodes, defaults: { socket } })
    client.on('error', quiet)
    await client.connect()
    const driver = nodeRedis(client)
    const command: Connection['command'] = (name, key, ...rest) =>
      client.sendCommand(key, false, [name, key, ...rest])
    return { driver, command, close: () => closeAll(driver, client) }
  }
  const client = createClient({ socket: { ...socket, host: HOST, port: ports[0] ?? 0 } })
  client.on('error', quiet)
  await client.connect()
  const driver = nodeRedis(client)
  return { driver, command: (...words) => client.sendCommand(words), close: () => closeAll(driver, client) }
}

async function closeAll(driver: Driver, client: { destroy(): unknown }): Promise<void> {
  await driver.close()
  client.destroy()
}

function at(ports: readonly number[]): { host: string; port: number }[] {
  return ports.map((port) => ({ host: HOST, port }))
}
