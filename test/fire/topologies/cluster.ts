// Three masters, each with a replica.

import { ask, askFields, until } from '../../servers/ask.ts'
import { type RedisCluster, startCluster } from '../../servers/cluster.ts'
import { startProxy } from '../../servers/proxy.ts'
import type { RedisServer } from '../../servers/redis.ts'
import { between, oneOf } from '../cell.ts'
import { addAndRemoveMaster, moveUsedSlots } from './moving.ts'
import type { Stage, Topology } from './topology.ts'

const SLOTS = 16_384
/** A dead master is found out, voted for and replaced, on a machine that is busy. */
const REPLACED_MS = 40_000

async function start(): Promise<Stage> {
  const cluster = await startCluster({ masters: 3, replicasPerMaster: 1 })
  const proxies = await Promise.all(cluster.ports.map((port) => startProxy(port)))
  const faces = Object.fromEntries(cluster.ports.map((port, at) => [port, proxies[at]?.port ?? port]))
  const dead = new Set<RedisServer>()
  const living = (): RedisServer[] => cluster.nodes.filter((node) => !dead.has(node))
  return {
    way: { kind: 'cluster', ports: cluster.ports, name: '', faces },
    proxies,
    get servers() {
      return cluster.nodes
    },
    primaries: () => mastersAmong(living()),
    switchover: (luck) => cluster.switchover(between(luck, 0, SLOTS - 1)),
    moveSlots: async (luck) => moveUsedSlots(cluster, await mastersAmong(living()), luck),
    addMaster: async (luck) => addAndRemoveMaster(cluster, await mastersAmong(living()), luck),
    async kill(luck) {
      const victim = oneOf(luck, await mastersAmong(living()))
      await victim.kill()
      dead.add(victim)
      await until(
        'another one has its slots',
        async () => (await mastersAmong(living())).length === 3,
        REPLACED_MS,
      )
      await until('the living find the cluster whole', () => isWhole(living()), REPLACED_MS)
    },
    async whole() {
      await Promise.all([...dead].map((node) => node.restart()))
      dead.clear()
      await until('the cluster is whole', () => isComplete(cluster), REPLACED_MS)
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.stop()))
      await cluster.stop()
    },
  }
}

async function fieldsOf({ port }: RedisServer): Promise<Map<string, string>> {
  return askFields(port, 'INFO', 'replication')
}

async function mastersAmong(nodes: readonly RedisServer[]): Promise<RedisServer[]> {
  const roles = await Promise.all(nodes.map(fieldsOf))
  return nodes.filter((_, at) => roles[at]?.get('role') === 'master')
}

async function isWhole(nodes: readonly RedisServer[]): Promise<boolean> {
  const views = await Promise.all(nodes.map(({ port }) => askFields(port, 'CLUSTER', 'INFO')))
  return views.every((view) => view.get('cluster_state') === 'ok')
}

/** Every master has a replica that has all, and everybody says so. */
async function isComplete(cluster: RedisCluster): Promise<boolean> {
  const views = await Promise.all(cluster.nodes.map(fieldsOf))
  const replicas = views.filter((view) => view.get('role') === 'slave')
  const follow = replicas.filter((view) => view.get('master_link_status') === 'up')
  const nodeLists = await Promise.all(cluster.ports.map((port) => ask(port, 'CLUSTER', 'NODES')))
  const noneFails = nodeLists.every((nodes) => !/fail|handshake/.test(String(nodes)))
  return follow.length === 3 && noneFails && isWhole(cluster.nodes)
}

export const cluster: Topology = { replicated: true, start }
