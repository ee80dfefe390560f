// One server that keeps what it acknowledges, with a clock of its own.

import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startProxy } from '../../servers/proxy.ts'
import { type RedisServer, startRedis } from '../../servers/redis.ts'
import { ownClock } from './clock-shim.ts'
import type { Stage, Topology } from './topology.ts'

async function start(): Promise<Stage> {
  const clock = ownClock()
  const server = await startRedis({ aof: 'always', ...(clock === null ? {} : { env: clock.env }) })
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
    setClock: (seconds) => clock?.set(seconds),
    restore: (meanwhile) => restore(server, meanwhile),
    whole: async () => undefined,
    async stop() {
      await proxy.stop()
      await server.stop()
      clock?.remove()
    },
  }
}

/** The actions of an operator after the death of a server: the files of the last copy, and a start. */
async function restore(server: RedisServer, meanwhile: () => Promise<void>): Promise<void> {
  const files = join(server.dir, 'appendonlydir')
  const copy = join(server.dir, 'copy')
  cpSync(files, copy, { recursive: true })
  await meanwhile()
  await server.kill()
  rmSync(files, { recursive: true })
  cpSync(copy, files, { recursive: true })
  rmSync(copy, { recursive: true })
  await server.restart()
}

export const single: Topology = { replicated: false, start }
