// The place of a queue under soak.

import { Cluster, Redis } from 'ioredis'

export interface QueuePlace {
  readonly kind: 'single' | 'cluster' | 'sentinels'
  /** The address of the server, of nodes, or of sentinels. */
  readonly ports: readonly number[]
  /** The sentinels' name for it. */
  readonly name: string
}

const HOST = '127.0.0.1'

export function onServer(port: number): QueuePlace {
  return { kind: 'single', ports: [port], name: '' }
}

/** A client that never gives up. */
export function openPlace({ kind, ports, name }: QueuePlace): Redis | Cluster {
  const options = { maxRetriesPerRequest: null, retryStrategy: () => 50 }
  const hosts = ports.map((port) => ({ host: HOST, port }))
  const client =
    kind === 'cluster'
      ? new Cluster(hosts, { clusterRetryStrategy: () => 50 })
      : kind === 'sentinels'
        ? new Redis({ sentinels: hosts, name, sentinelRetryStrategy: () => 50, ...options })
        : new Redis({ host: HOST, port: ports[0] ?? 0, ...options })
  client.on('error', () => undefined)
  return client
}
