// One server that keeps what it acknowledges.

import { startProxy } from '../../servers/proxy.ts'
import { startRedis } from '../../servers/redis.ts'
import type { Stage, Topology } from './topology.ts'

async function start(): Promise<Stage> {
  const server = await startRedis({ aof: 'always' })
  const proxy = await startProxy(server.port)
  return {
    way: { kind: 'single', ports: [proxy.port], name: '', faces: {} },
    proxies: [proxy],
    servers: [server],
    primaries: async () => [server],
    async kill() {
      await server.kill()
      await server.restart()
    },
    whole: async () => undefined,
    async stop() {
      await proxy.stop()
      await server.stop()
    },
  }
}

export const single: Topology = { replicated: false, start }
