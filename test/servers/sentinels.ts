import { randomBytes } from 'node:crypto'
import { ask, askFields, until } from './ask.ts'
import { freePort } from './ports.ts'
import { type RedisServer, startRedis } from './redis.ts'

const MASTER_NAME = 'perilune-test'
/** A busy machine may stop a server for long, which must not look like its death: failovers are asked for. */
const SILENT_MS = 60_000

export interface Sentinels {
  readonly masterName: string
  /** The one that Sentinel names now; changes with `failover`. */
  readonly primary: RedisServer
  readonly replicas: readonly RedisServer[]
  readonly sentinels: readonly RedisServer[]
  readonly sentinelPorts: readonly number[]
  /** Kills the primary with kill -9; resolves once a replica has taken over. The dead one may `restart`. */
  failover(): Promise<void>
  /**
   * A planned failover: the old primary lives on. Resolves once a replica has taken over; the old one is demoted some
   * seconds later.
   */
  switchover(): Promise<void>
  stop(): Promise<void>
}

/** Starts a primary, its replicas, and three sentinels that know them all. */
export async function startSentinels(options: { replicas?: number } = {}): Promise<Sentinels> {
  const primary = await startRedis()
  const replicas = await Promise.all(
    Array.from({ length: options.replicas ?? 1 }, () => startReplica(primary)),
  )
  const group = new SentinelGroup([primary, ...replicas], await startThree(primary, replicas))
  try {
    await until('every sentinel can watch', () => group.everySentinelIsReady())
    return group
  } catch (error) {
    await group.stop()
    throw error
  }
}

class SentinelGroup implements Sentinels {
  readonly masterName = MASTER_NAME
  readonly sentinels: readonly RedisServer[]
  readonly #stores: readonly RedisServer[]
  #primaryPort: number

  constructor(stores: readonly RedisServer[], sentinels: readonly RedisServer[]) {
    this.#stores = stores
    this.sentinels = sentinels
    this.#primaryPort = stores[0]?.port ?? 0
  }

  get primary(): RedisServer {
    const found = this.#stores.find(({ port }) => port === this.#primaryPort)
    if (found === undefined) throw new Error('sentinel names a primary that is not ours')
    return found
  }

  get replicas(): RedisServer[] {
    return this.#stores.filter(({ port }) => port !== this.#primaryPort)
  }

  get sentinelPorts(): number[] {
    return this.sentinels.map(({ port }) => port)
  }

  async failover(): Promise<void> {
    await this.primary.kill()
    await this.switchover()
  }

  async switchover(): Promise<void> {
    const old = this.primary
    await until('a sentinel begins the failover', () => this.#beginsFailover())
    await until('all sentinels name a new primary', async () => {
      const named = await Promise.all(this.sentinelPorts.map(namedPrimary))
      return named.every((port) => port === named[0] && port !== old.port)
    })
    this.#primaryPort = await namedPrimary(this.sentinelPorts[0] ?? 0)
    await until('the new primary is one', async () => (await roleOf(this.#primaryPort)) === 'master')
  }

  async stop(): Promise<void> {
    await Promise.all([...this.sentinels, ...this.#stores].map((server) => server.stop()))
  }

  /** False while the last one is not over, or no replica is known to be fit. */
  async #beginsFailover(): Promise<boolean> {
    const answer = ask(this.sentinelPorts[0] ?? 0, 'SENTINEL', 'FAILOVER', MASTER_NAME)
    return answer.then(
      () => true,
      () => false,
    )
  }

  async everySentinelIsReady(): Promise<boolean> {
    const views = await Promise.all(
      this.sentinelPorts.map((port) => ask(port, 'SENTINEL', 'CKQUORUM', MASTER_NAME)),
    )
    return views.every((view) => String(view).startsWith('OK 3 usable'))
  }
}

export async function startReplica(primary: RedisServer): Promise<RedisServer> {
  const replica = await startRedis()
  // By command, not by option, so that a promoted replica is still the primary after a restart.
  await ask(replica.port, 'REPLICAOF', '127.0.0.1', primary.port)
  await until(
    'the replica has its data',
    async () => (await askFields(replica.port, 'INFO', 'replication')).get('master_link_status') === 'up',
  )
  return replica
}

interface Identity {
  port: number
  id: string
}

/** The sentinels are introduced to one another: discovery by themselves takes seconds. */
async function startThree(primary: RedisServer, replicas: readonly RedisServer[]): Promise<RedisServer[]> {
  const ports = await Promise.all([freePort(), freePort(), freePort()])
  const sentinels = ports.map((port) => ({ port, id: randomBytes(20).toString('hex') }))
  return Promise.all(sentinels.map((self) => startSentinel(self, sentinels, primary, replicas)))
}

function startSentinel(
  self: Identity,
  all: readonly Identity[],
  primary: RedisServer,
  replicas: readonly RedisServer[],
): Promise<RedisServer> {
  const others = all.filter((other) => other !== self)
  const config = [
    `sentinel myid ${self.id}`,
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${primary.port} 2`,
    `sentinel down-after-milliseconds ${MASTER_NAME} ${SILENT_MS}`,
    `sentinel failover-timeout ${MASTER_NAME} 3000`,
    ...replicas.map((replica) => `sentinel known-replica ${MASTER_NAME} 127.0.0.1 ${replica.port}`),
    ...others.map((other) => `sentinel known-sentinel ${MASTER_NAME} 127.0.0.1 ${other.port} ${other.id}`),
  ]
  return startRedis({ port: self.port, args: ['--sentinel'], config: `${config.join('\n')}\n` })
}

async function namedPrimary(sentinelPort: number): Promise<number> {
  const address = await ask(sentinelPort, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', MASTER_NAME)
  return Array.isArray(address) ? Number(address[1]) : 0
}

async function roleOf(port: number): Promise<string | undefined> {
  return (await askFields(port, 'INFO', 'replication')).get('role')
}
