// One address in front of a primary and its replica, as a load balancer or a service of Kubernetes has it.

import { ask, askFields, until } from './ask.ts'
import { type Proxy, startProxy } from './proxy.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { startReplica } from './sentinels.ts'

export interface OneAddress {
  /** What clients connect to. It does not follow a switchover by itself: `follow`. */
  readonly proxy: Proxy
  readonly primary: RedisServer
  readonly replica: RedisServer
  /** A planned failover: primary and replica change places. Connections stay where they are. */
  switchover(): Promise<void>
  /** Leads new connections to the primary of now. */
  follow(): void
  stop(): Promise<void>
}

export async function startOneAddress(): Promise<OneAddress> {
  const primary = await startRedis()
  const replica = await startReplica(primary)
  return new Pair(primary, replica, await startProxy(primary.port))
}

class Pair implements OneAddress {
  readonly proxy: Proxy
  #primary: RedisServer
  #replica: RedisServer

  constructor(primary: RedisServer, replica: RedisServer, proxy: Proxy) {
    this.#primary = primary
    this.#replica = replica
    this.proxy = proxy
  }

  get primary(): RedisServer {
    return this.#primary
  }

  get replica(): RedisServer {
    return this.#replica
  }

  async switchover(): Promise<void> {
    const [old, next] = [this.#primary, this.#replica]
    await until('the primary hands over', async () => (await ask(old.port, 'FAILOVER')) === 'OK')
    await until('the replica is the primary', () => hasRole(next, 'master'))
    await until('the old primary follows it', () => hasRole(old, 'slave'))
    this.#primary = next
    this.#replica = old
  }

  follow(): void {
    this.proxy.leadTo(this.#primary.port)
  }

  async stop(): Promise<void> {
    await this.proxy.stop()
    await Promise.all([this.#primary.stop(), this.#replica.stop()])
  }
}

async function hasRole(server: RedisServer, role: 'master' | 'slave'): Promise<boolean> {
  return (await askFields(server.port, 'INFO', 'replication')).get('role') === role
}
