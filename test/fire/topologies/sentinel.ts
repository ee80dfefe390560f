// A primary and its replica, watched by three Sentinels.

import { ask, askFields, until } from '../../servers/ask.ts'
import { startProxy } from '../../servers/proxy.ts'
import type { RedisServer } from '../../servers/redis.ts'
import { type Sentinels, startSentinels } from '../../servers/sentinels.ts'
import type { Stage, Topology } from './topology.ts'

/** Sentinel makes a replica of an old primary that has come back; some ten seconds later. */
const DEMOTED_MS = 60_000

async function start(): Promise<Stage> {
  const group = await startSentinels({ replicas: 1 })
  const servers = [group.primary, ...group.replicas]
  const proxies = await Promise.all(servers.map(({ port }) => startProxy(port)))
  const faces = Object.fromEntries(servers.map(({ port }, at) => [port, proxies[at]?.port ?? port]))
  const dead = new Set<RedisServer>()
  return {
    way: { kind: 'sentinel', ports: group.sentinelPorts, name: group.masterName, faces },
    proxies,
    servers,
    primaries: async () => [group.primary],
    switchover: () => switchover(group),
    async kill() {
      const victim = group.primary
      await group.failover()
      dead.add(victim)
    },
    async standStill(forAWhile) {
      const old = group.primary
      process.kill(old.pid, 'SIGSTOP')
      try {
        await group.switchover()
        await forAWhile()
      } finally {
        process.kill(old.pid, 'SIGCONT')
      }
      await until('the old primary is one no more', () => follows(old), DEMOTED_MS)
    },
    async whole() {
      for (const server of dead) {
        await server.restart()
        // Sentinel does it, too, in its time.
        await ask(server.port, 'REPLICAOF', '127.0.0.1', group.primary.port)
      }
      dead.clear()
      await until(
        'the replica follows',
        async () => {
          return (await Promise.all(group.replicas.map(follows))).every(Boolean)
        },
        DEMOTED_MS,
      )
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await group.stop()
    },
  }
}

/** As one who plans it does it: writes wait at the old primary, for what it took after the promotion would be lost. */
async function switchover(group: Sentinels): Promise<void> {
  const old = group.primary
  await ask(old.port, 'CLIENT', 'PAUSE', 60_000, 'WRITE')
  await until('the replica has all', () => isCopied(old))
  await group.switchover()
  // Sentinel itself does it later; a client that is slow is refused from here on, rather than served.
  await ask(old.port, 'REPLICAOF', '127.0.0.1', group.primary.port)
  await ask(old.port, 'CLIENT', 'UNPAUSE')
}

/** A line of a replica: `slave0:ip=…,port=…,state=online,offset=42,lag=0`. */
async function isCopied({ port }: RedisServer): Promise<boolean> {
  const fields = await askFields(port, 'INFO', 'replication')
  return fields.get('slave0')?.includes(`offset=${fields.get('master_repl_offset')},`) === true
}

async function follows({ port }: RedisServer): Promise<boolean> {
  const fields = await askFields(port, 'INFO', 'replication')
  return fields.get('role') === 'slave' && fields.get('master_link_status') === 'up'
}

export const sentinel: Topology = { replicated: true, start }
