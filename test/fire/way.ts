// How a process of a run reaches the servers: directly, or by the faces that proxies give them.

import { Cluster, Redis } from 'ioredis'
import type { Driver } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { nodeRedis } from 'perilune/node-redis'
import { createClient, createCluster, createSentinel } from 'redis'
import type { ClientName } from './cell.ts'

const HOST = '127.0.0.1'

export interface Way {
  readonly kind: 'single' | 'cluster' | 'sentinel'
  /** The first servers to contact: the Sentinels, for `sentinel`. */
  readonly ports: readonly number[]
  /** The name that Sentinels use for the primary. */
  readonly name: string
  /** The port of a server, and that of the proxy in front of it. */
  readonly faces: Readonly<Record<number, number>>
}

export interface Opened {
  readonly driver: Driver
  close(): unknown
}

interface Address {
  readonly host: string
  readonly port: number
}

export function open(client: ClientName, way: Way): Promise<Opened> {
  return client === 'ioredis' ? openIoredis(way) : openNodeRedis(way)
}

function at(way: Way): Address[] {
  return way.ports.map((port) => ({ host: HOST, port: way.faces[port] ?? port }))
}

async function openIoredis(way: Way): Promise<Opened> {
  const connection = ioredisOf(way)
  connection.on('error', () => undefined)
  await connection.call('PING')
  return { driver: ioredis(connection), close: () => connection.disconnect() }
}

function ioredisOf(way: Way): Redis | Cluster {
  const [first] = at(way)
  const natMap = Object.fromEntries(
    Object.entries(way.faces).map(([port, face]) => [`${HOST}:${port}`, { host: HOST, port: face }]),
  )
  if (way.kind === 'cluster') return new Cluster(at(way), { natMap })
  if (way.kind === 'sentinel')
    return new Redis({ sentinels: at(way), name: way.name, failoverDetector: true, natMap })
  return new Redis({ ...first })
}

/** A socket of its own for each: the client writes into it. */
const socket = (): { reconnectStrategy: number } => ({ reconnectStrategy: 20 })

async function openNodeRedis(way: Way): Promise<Opened> {
  const connection = nodeRedisOf(way)
  connection.on('error', () => undefined)
  await connection.connect()
  return { driver: nodeRedis(connection), close: () => connection.destroy() }
}

/** Only the used members of the types of the three kinds of clients: a full comparison takes the compiler a minute. */
type Connection = Parameters<typeof nodeRedis>[0] & { connect(): Promise<unknown>; destroy(): void }

function nodeRedisOf(way: Way): Connection {
  const [first] = at(way)
  const nodeAddressMap = (address: string): Address | undefined => {
    const face = way.faces[Number(address.split(':').at(-1))]
    return face === undefined ? undefined : { host: HOST, port: face }
  }
  if (way.kind === 'cluster') {
    const rootNodes = at(way).map((node) => ({ socket: node }))
    return createCluster({ rootNodes, defaults: { socket: socket() }, nodeAddressMap })
  }
  if (way.kind === 'sentinel') {
    const nodeClientOptions = { socket: socket() }
    return createSentinel({ name: way.name, sentinelRootNodes: at(way), nodeClientOptions, nodeAddressMap })
  }
  return createClient({ socket: { ...socket(), ...first } })
}
