// The deployments that the suite runs on, made of real servers.

import { randomUUID } from 'node:crypto'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import type { DriverContext } from '../../src/testing/driver-suite.ts'
import { ask, askFields, until } from '../servers/ask.ts'
import type { RedisCluster } from '../servers/cluster.ts'
import type { OneAddress } from '../servers/one-address.ts'
import type { RedisServer } from '../servers/redis.ts'
import type { Sentinels } from '../servers/sentinels.ts'
import type { OpenCluster, OpenSentinel, OpenSingle } from './client.ts'

export function singlePlace(server: RedisServer, open: OpenSingle): DriverContext {
  return {
    kind: 'single',
    open: () => open(server.port),
    uniqueTag: randomUUID,
    command: (...words) => askEach([server], words),
    crash: () => server.kill(),
    revive: () => server.restart(),
  }
}

/** One address whose connections are closed at a switchover, as by a load balancer, except the listening ones. */
export function oneAddressPlace(pair: OneAddress, open: OpenSingle): DriverContext {
  return {
    kind: 'single',
    open: () => open(pair.proxy.port),
    uniqueTag: randomUUID,
    command: (...words) => askEach([pair.primary], words),
    async switchover() {
      await pair.switchover()
      pair.follow()
      await ask(pair.replica.port, 'CLIENT', 'KILL', 'TYPE', 'normal')
    },
    halfOpenSubscribers: async () => pair.proxy.halfOpenSubscribers(),
  }
}

export function clusterPlace(cluster: RedisCluster, open: OpenCluster): DriverContext {
  let crashed: RedisServer | undefined
  return {
    kind: 'cluster',
    open: () => open(cluster.ports),
    uniqueTag: randomUUID,
    command: (...words) => askEach(cluster.nodes, words),
    async crash(key) {
      const port = await ownerOf(cluster, key)
      crashed = cluster.nodes.find((node) => node.port === port)
      await crashed?.kill()
    },
    async revive() {
      await crashed?.restart()
      await until('the cluster is whole again', () => isWhole(cluster))
    },
    async moveSlot(key) {
      const slot = await cluster.slotOf(key)
      const from = await cluster.ownerOf(slot)
      await cluster.moveSlot(slot, from, cluster.ports.find((port) => port !== from) ?? from)
    },
    switchover: async (key) => cluster.switchover(await cluster.slotOf(key)),
  }
}

/** Survives as many failovers as the group has replicas. */
export function sentinelPlace(group: Sentinels, open: OpenSentinel): DriverContext {
  const dead = new Set<RedisServer>()
  return {
    kind: 'sentinel',
    open: () => open(group.sentinelPorts, group.masterName),
    uniqueTag: randomUUID,
    command: (...words) => askEach([group.primary], words),
    async failover() {
      dead.add(group.primary)
      await group.failover()
      const others = group.replicas.filter((replica) => !dead.has(replica))
      await until('the others follow the new primary', async () =>
        (await Promise.all(others.map((other) => follows(other, group.primary)))).every(Boolean),
      )
    },
    switchover: () => group.switchover(),
  }
}

function askEach(servers: readonly RedisServer[], [command = '', ...args]: string[]): Promise<unknown[]> {
  return Promise.all(servers.map(({ port }) => ask(port, command, ...args)))
}

async function isWhole(cluster: RedisCluster): Promise<boolean> {
  const views = await Promise.all(cluster.ports.map((port) => askFields(port, 'CLUSTER', 'INFO')))
  return views.every((view) => view.get('cluster_state') === 'ok')
}

async function follows(replica: RedisServer, primary: RedisServer): Promise<boolean> {
  const fields = await askFields(replica.port, 'INFO', 'replication')
  return fields.get('master_port') === String(primary.port) && fields.get('master_link_status') === 'up'
}

/**
 * Asks all nodes and takes the first answer: the owner itself may be busy. A line: `id host:port@bus … 0-5460 5462`.
 */
async function ownerOf(cluster: RedisCluster, key: string): Promise<number> {
  const nodes = String(await Promise.any(cluster.ports.map((port) => ask(port, 'CLUSTER', 'NODES'))))
  const slot = slotOf(key)
  const line = nodes.split('\n').find((node) =>
    node
      .split(' ')
      .slice(8)
      .some((range) => holds(range, slot)),
  )
  return Number(/:(\d+)@/.exec(line ?? '')?.[1])
}

function holds(range: string, slot: number): boolean {
  const [first = Number.NaN, last = first] = range.split('-').map(Number)
  return first <= slot && slot <= last
}
