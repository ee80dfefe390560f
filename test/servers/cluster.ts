import { ask, askFields, until, withClient } from './ask.ts'
import { type RedisServer, startRedis } from './redis.ts'

const SLOTS = 16_384
const GIVEN_UP_MS = 6000

export interface ClusterOptions {
  masters?: number
  replicasPerMaster?: number
}

export interface RedisCluster {
  /** The masters, in the order of their slots, then their replicas. */
  readonly nodes: readonly RedisServer[]
  readonly ports: readonly number[]
  slotOf(key: string): Promise<number>
  /** The port of the master that has the slot. */
  ownerOf(slot: number): Promise<number>
  /** Moves a slot with its keys, as resharding does. */
  moveSlot(slot: number, fromPort: number, toPort: number): Promise<void>
  /** Opens a move: from here on, calls may be answered with ASK and TRYAGAIN. */
  beginMove(slot: number, fromPort: number, toPort: number): Promise<void>
  /** Moves at most `limit` keys of an opened move; resolves to how many it moved. */
  moveKeys(slot: number, fromPort: number, toPort: number, limit?: number): Promise<number>
  /** Closes a move: all nodes learn the new owner. */
  finishMove(slot: number, fromPort: number, toPort: number): Promise<void>
  /** A new master, without slots, which all nodes know. */
  addMaster(): Promise<RedisServer>
  /** One that has no slots any more goes: all others forget it. */
  removeMaster(node: RedisServer): Promise<void>
  /** A planned failover: a replica becomes the master of the slot, and its master its replica. */
  switchover(slot: number): Promise<void>
  stop(): Promise<void>
}

/** Starts a cluster and resolves once every node finds it whole. */
export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicasPerMaster = 0 } = options
  const count = masters * (1 + replicasPerMaster)
  const nodes = await Promise.all(Array.from({ length: count }, startNode))
  const cluster = new Cluster(nodes)
  try {
    await assignSlots(nodes.slice(0, masters))
    await introduce(nodes)
    await attachReplicas(nodes, masters)
    await until('the cluster is whole', () => everyNodeIsContent(nodes))
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

class Cluster implements RedisCluster {
  #nodes: readonly RedisServer[]

  constructor(nodes: readonly RedisServer[]) {
    this.#nodes = nodes
  }

  get nodes(): readonly RedisServer[] {
    return this.#nodes
  }

  get ports(): number[] {
    return this.nodes.map((node) => node.port)
  }

  async slotOf(key: string): Promise<number> {
    return Number(await ask(this.#anyPort, 'CLUSTER', 'KEYSLOT', key))
  }

  async ownerOf(slot: number): Promise<number> {
    const ranges = await withClient(this.#anyPort, (client) => client.cluster('SLOTS'))
    const owner = ranges.find(([first, last]) => first <= slot && slot <= last)?.[2]
    if (owner === undefined) throw new Error(`no node owns slot ${slot}`)
    return owner[1]
  }

  async moveSlot(slot: number, fromPort: number, toPort: number): Promise<void> {
    await this.beginMove(slot, fromPort, toPort)
    while ((await this.moveKeys(slot, fromPort, toPort)) > 0);
    await this.finishMove(slot, fromPort, toPort)
  }

  async beginMove(slot: number, fromPort: number, toPort: number): Promise<void> {
    await ask(toPort, 'CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(fromPort))
    await ask(fromPort, 'CLUSTER', 'SETSLOT', slot, 'MIGRATING', await idOf(toPort))
  }

  async moveKeys(slot: number, fromPort: number, toPort: number, limit = 1000): Promise<number> {
    const keys = await withClient(fromPort, (client) => client.cluster('GETKEYSINSLOT', slot, limit))
    if (keys.length > 0) await ask(fromPort, 'MIGRATE', '127.0.0.1', toPort, '', 0, 5000, 'KEYS', ...keys)
    return keys.length
  }

  async finishMove(slot: number, fromPort: number, toPort: number): Promise<void> {
    const owner = await idOf(toPort)
    const others = this.ports.filter((port) => port !== fromPort && port !== toPort)
    // The new owner first: if the old one gave the slot up before, it would have no owner.
    for (const port of [toPort, fromPort]) await ask(port, 'CLUSTER', 'SETSLOT', slot, 'NODE', owner)
    await Promise.all(others.map((port) => this.#learnOwner(port, slot, owner)))
  }

  async switchover(slot: number): Promise<void> {
    const old = await this.ownerOf(slot)
    const replica = await this.#replicaOf(old)
    await until('the master knows its replica', () => isKnownReplica(old, replica))
    await until('the replica takes over', () => takesOver(replica))
    await until('the old master follows it', async () => (await masterOf(old)) === String(replica))
    await until('everybody knows', async () => (await this.ownerOf(slot)) === replica)
  }

  async addMaster(): Promise<RedisServer> {
    const node = await startNode()
    // Otherwise it becomes a replica of the node that gets its last slot.
    await ask(node.port, 'CONFIG', 'SET', 'cluster-allow-replica-migration', 'no')
    this.#nodes = [...this.#nodes, node]
    await ask(node.port, 'CLUSTER', 'MEET', '127.0.0.1', this.#anyPort, await busPortOf(this.#anyPort))
    await until('everybody knows the new master', () => everyNodeIsContent(this.#nodes))
    return node
  }

  async removeMaster(node: RedisServer): Promise<void> {
    this.#nodes = this.#nodes.filter((each) => each !== node)
    const id = await idOf(node.port)
    await Promise.all(this.ports.map((port) => ask(port, 'CLUSTER', 'FORGET', id)))
    await node.stop()
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()))
  }

  async #replicaOf(master: number): Promise<number> {
    const masters = await Promise.all(this.ports.map(masterOf))
    const replica = this.ports[masters.indexOf(String(master))]
    if (replica === undefined) throw new Error(`the master on port ${master} has no replica`)
    return replica
  }

  get #anyPort(): number {
    const node = this.nodes[0]
    if (node === undefined) throw new Error('the cluster has no node')
    return node.port
  }

  /** Replicas refuse SETSLOT and learn it from their master. */
  async #learnOwner(port: number, slot: number, owner: string): Promise<void> {
    const role = (await askFields(port, 'INFO', 'replication')).get('role')
    if (role === 'master') await ask(port, 'CLUSTER', 'SETSLOT', slot, 'NODE', owner)
  }
}

function startNode(): Promise<RedisServer> {
  const args = ['--cluster-announce-ip', '127.0.0.1', '--cluster-node-timeout', '2000']
  return startRedis({ cluster: true, args })
}

async function assignSlots(masters: readonly RedisServer[]): Promise<void> {
  const edge = (index: number) => Math.round((index * SLOTS) / masters.length)
  await Promise.all(
    masters.map(async ({ port }, index) => {
      await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', edge(index), edge(index + 1) - 1)
      await ask(port, 'CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }),
  )
}

/** Everybody meets everybody at once, rather than by gossip, which takes its time. */
async function introduce(nodes: readonly RedisServer[]): Promise<void> {
  for (const [index, node] of nodes.entries()) {
    const others = nodes.slice(index + 1)
    await Promise.all(
      others.map(async ({ port }) =>
        ask(node.port, 'CLUSTER', 'MEET', '127.0.0.1', port, await busPortOf(port)),
      ),
    )
  }
}

async function attachReplicas(nodes: readonly RedisServer[], masters: number): Promise<void> {
  const replicas = nodes.slice(masters)
  await Promise.all(
    replicas.map(async ({ port }, index) => {
      const master = await idOf(nodes[index % masters]?.port ?? 0)
      await until(
        'a replica has met its master',
        async () => (await ask(port, 'CLUSTER', 'REPLICATE', master)) === 'OK',
      )
      await until(
        'a replica has its data',
        async () => (await askFields(port, 'INFO', 'replication')).get('master_link_status') === 'up',
      )
    }),
  )
}

async function everyNodeIsContent(nodes: readonly RedisServer[]): Promise<boolean> {
  const views = await Promise.all(nodes.map(({ port }) => askFields(port, 'CLUSTER', 'INFO')))
  return views.every(
    (view) => view.get('cluster_state') === 'ok' && view.get('cluster_known_nodes') === String(nodes.length),
  )
}

/**
 * A master ignores a failover request until it knows the sender as its replica: after a failover this takes a second.
 */
async function isKnownReplica(master: number, replica: number): Promise<boolean> {
  const replicas = String(await ask(master, 'CLUSTER', 'REPLICAS', await idOf(master)))
  return replicas.includes(await idOf(replica))
}

/** Servers give a failover up after five seconds, without a report: then it must be requested again. */
async function takesOver(replica: number): Promise<boolean> {
  await ask(replica, 'CLUSTER', 'FAILOVER')
  const isMaster = async (): Promise<boolean> => (await masterOf(replica)) === undefined
  await until('it has done so', isMaster, GIVEN_UP_MS)
  return true
}

/** The port of its master; undefined for a master. */
async function masterOf(port: number): Promise<string | undefined> {
  return (await askFields(port, 'INFO', 'replication')).get('master_port')
}

async function idOf(port: number): Promise<string> {
  return String(await ask(port, 'CLUSTER', 'MYID'))
}

/** Of its line `id host:port@bus myself,…`. */
async function busPortOf(port: number): Promise<number> {
  const nodes = String(await ask(port, 'CLUSTER', 'NODES'))
  return Number(/@(\d+)\S* \S*myself/.exec(nodes)?.[1])
}
