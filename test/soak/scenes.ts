// The soaks that make up the proof: 32 producers in 4 processes, 8 observers, 8 consumers in 2 more.

import { type RedisCluster, startCluster } from '../servers/cluster.ts'
import { startProxy } from '../servers/proxy.ts'
import { startRedis } from '../servers/redis.ts'
import { killMasters, troubleCluster } from './cluster-trouble.ts'
import { troubleConnections } from './connection-trouble.ts'
import { type Scene, type SoakVerdict, soakFeed, type Trouble } from './feed-soak.ts'
import type { Share } from './work.ts'

export interface Terms {
  forMs: number
  seed: number
  kind?: Share['kind']
}

/** Slots move, replicas take over in good order, consumers are killed. Nothing may be lost. */
export function soakOnCluster(terms: Terms): Promise<SoakVerdict> {
  return onCluster(terms, troubleCluster)
}

/** Masters are killed with kill -9; writes acknowledged just before may be lost. */
export function soakWithKills(terms: Terms): Promise<SoakVerdict> {
  return onCluster(terms, killMasters)
}

/** One server; connections are reset and delayed, replies cut after execution, requests dropped. */
export async function soakBehindProxies({ kind = 'perilune', ...terms }: Terms): Promise<SoakVerdict> {
  const server = await startRedis()
  const proxies = await Promise.all(Array.from({ length: 4 }, () => startProxy(server.port)))
  try {
    return await soakFeed({
      ...terms,
      ...peopleOf(kind),
      placeOf: (at) => ({ ports: [proxies[at]?.port ?? 0], cluster: false }),
      trouble: (scene) => troubleConnections(proxies, scene),
    })
  } finally {
    await Promise.all(proxies.map((proxy) => proxy.stop()))
    await server.stop()
  }
}

async function onCluster(
  { kind = 'perilune', ...terms }: Terms,
  trouble: (cluster: RedisCluster, scene: Scene) => Promise<Trouble>,
): Promise<SoakVerdict> {
  const cluster = await startCluster({ masters: 3, replicasPerMaster: 1 })
  try {
    return await soakFeed({
      ...terms,
      ...peopleOf(kind),
      placeOf: () => ({ ports: cluster.ports, cluster: true }),
      trouble: (scene) => trouble(cluster, scene),
    })
  } finally {
    await cluster.stop()
  }
}

/** The unguarded feed knows no claims. */
function peopleOf(kind: Share['kind']): { kind: Share['kind']; consumerProcesses?: number } {
  return kind === 'unguarded' ? { kind, consumerProcesses: 0 } : { kind }
}
