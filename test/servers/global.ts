// The servers that all test files of a run share. A test keeps to names of its own on them; one that
// stops, floods or reconfigures a server starts its own.
import type { TestProject } from 'vitest/node'
import { buildPrograms } from '../programs/build.ts'
import { startCluster } from './cluster.ts'
import { offerDatabases } from './databases.ts'
import { startRedis } from './redis.ts'
import { startSentinels } from './sentinels.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    redisPort: number
    /** Ask it through shared-database.ts. */
    databasesPort: number
    clusterPorts: number[]
    sentinels: number[]
    sentinelMaster: string
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [redis, cluster, group, databases, removePrograms] = await Promise.all([
    startRedis(),
    startCluster(),
    startSentinels(),
    offerDatabases(),
    buildPrograms(),
  ])
  project.provide('redisPort', redis.port)
  project.provide('databasesPort', databases.port)
  project.provide('clusterPorts', [...cluster.ports])
  project.provide('sentinels', [...group.sentinelPorts])
  project.provide('sentinelMaster', group.masterName)
  return async () => {
    await Promise.all([redis.stop(), cluster.stop(), group.stop(), databases.stop(), removePrograms()])
  }
}
