// Faults on a cluster during a soak: slots move, replicas take over, masters die.

import { setTimeout as sleep } from 'node:timers/promises'
import { ask, askFields, until } from '../servers/ask.ts'
import type { RedisCluster } from '../servers/cluster.ts'
import type { RedisServer } from '../servers/redis.ts'
import type { Window } from './arrange.ts'
import type { Scene, Trouble } from './feed-soak.ts'
import { nowUs, ROLES, type Role } from './history.ts'

/** Writes acknowledged that long before replication broke may not have reached the replica. */
const LAG_US = 500_000

// Masters do not vote twice within four seconds, and a failover that got no votes ends after five.
const MANUAL_FAILOVER_MS = 6000

/** Moves slots back and forth, lets replicas take over in good order, replaces consumers: each at least once. */
export async function troubleCluster(cluster: RedisCluster, scene: Scene): Promise<Trouble> {
  const happened = { 'slots moved': 0, failovers: 0, 'consumers killed': 0 }
  for (let round = 0; round === 0 || !scene.over.aborted; round++) {
    const [one, other] = round % 2 === 0 ? (['watched', 'worked'] as const) : (['worked', 'watched'] as const)
    await moveSlot(cluster, await slotOf(cluster, scene, one), scene.random)
    happened['slots moved'] += 1
    await promote(cluster, await slotOf(cluster, scene, other))
    happened.failovers += 1
    happened['consumers killed'] += await scene.replaceConsumers()
  }
  return { windows: [], happened }
}

/** Kills the masters of both feeds in turns; their replicas take over by election. */
export async function killMasters(cluster: RedisCluster, scene: Scene): Promise<Trouble> {
  const windows: Window[] = []
  for (let round = 0; round < 2 || !scene.over.aborted; round++) {
    await sleep(3000)
    windows.push(await killMasterOf(cluster, scene, round % 2 === 0 ? 'watched' : 'worked'))
  }
  return { windows, happened: { 'masters killed': windows.length } }
}

async function killMasterOf(cluster: RedisCluster, scene: Scene, role: Role): Promise<Window> {
  const slot = await slotOf(cluster, scene, role)
  const owner = nodeAt(cluster, await ownerOf(cluster, slot))
  const feeds = await rolesOn(cluster, scene, owner.port)
  const replica = await replicaOf(cluster, owner.port)
  await until('the replica has all data', () => isReplicaInSync(replica))
  const fromUs = nowUs() - LAG_US
  await cutReplication(owner.port, replica)
  await sleep(scene.random() * 800)
  await owner.kill()
  await ask(replica, 'CONFIG', 'SET', 'masterauth', '')
  await until('a replica has taken over', async () => (await ownerOf(cluster, slot)) === replica)
  const toUs = nowUs() // until now, answers of the dead master may have been on their way
  await owner.restart()
  await until('the killed one is a replica', () => isReplicaInSync(owner.port))
  return { fromUs, toUs, feeds }
}

/** So that something is lost: the master refuses a password that it does not have. */
export async function cutReplication(master: number, replica: number): Promise<void> {
  await ask(replica, 'CONFIG', 'SET', 'masterauth', 'unknown')
  await ask(master, 'CLIENT', 'KILL', 'TYPE', 'replica')
}

export async function moveSlot(cluster: RedisCluster, slot: number, random: () => number): Promise<void> {
  const from = await ownerOf(cluster, slot)
  const others = (await mastersOf(cluster)).filter((port) => port !== from)
  const to = others[Math.floor(random() * others.length)] ?? from
  await cluster.beginMove(slot, from, to)
  await cluster.moveKeys(slot, from, to, 1)
  await sleep(random() * 100) // calls now meet half of their keys
  while ((await cluster.moveKeys(slot, from, to)) > 0);
  await cluster.finishMove(slot, from, to)
  await until('every node knows who has the slot', async () => (await ownerOf(cluster, slot)) === to)
}

/** The replica of the slot's master takes over without a loss. */
async function promote(cluster: RedisCluster, slot: number): Promise<void> {
  const old = await ownerOf(cluster, slot)
  const replica = await replicaOf(cluster, old)
  await until('the replica has all data', () => isReplicaInSync(replica))
  await takeOver(replica, async () => (await ownerOf(cluster, slot)) === replica)
  await until('the old master follows it', () => isReplicaInSync(old))
}

async function takeOver(replica: number, isDone: () => Promise<boolean>, attempts = 5): Promise<void> {
  await ask(replica, 'CLUSTER', 'FAILOVER')
  try {
    await until('the replica has taken over', isDone, MANUAL_FAILOVER_MS)
  } catch (error) {
    if (attempts === 1) throw error
    await takeOver(replica, isDone, attempts - 1)
  }
}

/** Throws until all nodes that run agree. */
export async function ownerOf(cluster: RedisCluster, slot: number): Promise<number> {
  const views = await Promise.all(cluster.ports.map((port) => ownerAccordingTo(port, slot)))
  const owners = new Set(views.filter((owner) => owner !== null))
  const [owner] = owners
  if (owner === undefined || owners.size > 1) throw new Error(`nodes disagree about slot ${slot}`)
  return owner
}

/** Null when that node does not answer. */
async function ownerAccordingTo(port: number, slot: number): Promise<number | null> {
  const ranges = await ask(port, 'CLUSTER', 'SLOTS').catch(() => null)
  if (ranges === null) return null
  const range = (ranges as [number, number, [string, number]][]).find(
    ([first, last]) => first <= slot && slot <= last,
  )
  return range?.[2][1] ?? 0
}

async function slotOf(cluster: RedisCluster, { feeds }: Scene, role: Role): Promise<number> {
  const slot = await cluster.slotOf(`perilune:{feed:${feeds[role]}}:meta`)
  await until('all nodes agree about the slot', async () => (await ownerOf(cluster, slot)) > 0)
  return slot
}

async function rolesOn(cluster: RedisCluster, scene: Scene, port: number): Promise<Role[]> {
  const owners = await Promise.all(
    ROLES.map(async (role) => ownerOf(cluster, await slotOf(cluster, scene, role))),
  )
  return ROLES.filter((_, at) => owners[at] === port)
}

async function mastersOf(cluster: RedisCluster): Promise<number[]> {
  const roles = await Promise.all(cluster.ports.map((port) => replicationOf(port)))
  return cluster.ports.filter((_, at) => roles[at]?.get('role') === 'master')
}

async function replicaOf(cluster: RedisCluster, master: number): Promise<number> {
  const roles = await Promise.all(cluster.ports.map((port) => replicationOf(port)))
  const replica = cluster.ports.find((_, at) => roles[at]?.get('master_port') === String(master))
  if (replica === undefined) throw new Error(`the master on port ${master} has no replica`)
  return replica
}

export async function isReplicaInSync(port: number): Promise<boolean> {
  const fields = await replicationOf(port)
  return fields.get('role') === 'slave' && fields.get('master_link_status') === 'up'
}

function replicationOf(port: number): Promise<Map<string, string>> {
  return askFields(port, 'INFO', 'replication')
}

function nodeAt({ nodes }: RedisCluster, port: number): RedisServer {
  const node = nodes.find((each) => each.port === port)
  if (node === undefined) throw new Error(`no node of ours is on port ${port}`)
  return node
}
