// Cluster nodes whose first connection is never established, such as a node that was promoted and died at once.
// node-redis (6.3.1) waits for it without a limit, and does not refresh its view of the cluster until then, although
// other nodes have taken its slots.

import type { ClusterClient, ClusterNode } from './client.ts'

const LOOK_MS = 1000
/** Twice the default time of one connection attempt. */
const PATIENCE_MS = 10_000

export class LateNodes {
  readonly #client: ClusterClient
  #timer: NodeJS.Timeout | undefined
  /** When waiting for each node's client began, by `performance.now()`. */
  #awaited = new Map<ClusterNode['client'], number>()

  constructor(client: ClusterClient) {
    this.#client = client
  }

  /** Call this when not all nodes are connected. */
  watch(): void {
    this.#timer ??= setTimeout(() => this.#look(), LOOK_MS).unref()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #look(): void {
    this.#timer = undefined
    const now = performance.now()
    const nodes = this.#connecting()
    this.#awaited = new Map(nodes.map(({ client }) => [client, this.#awaited.get(client) ?? now]))
    const late = nodes.filter(({ client }) => now - (this.#awaited.get(client) ?? now) >= PATIENCE_MS)
    if (late.length > 0) this.#giveUp(late)
    if (nodes.length > 0) this.watch()
  }

  /** Nodes that are connecting for the first time. */
  #connecting(): ClusterNode[] {
    const nodes = [...this.#client.masters, ...this.#client.replicas]
    return nodes.filter(({ client, connectPromise }) => client !== undefined && connectPromise !== undefined)
  }

  /** Calls that wait for these nodes fail. The next user of a node connects a new client. */
  #giveUp(nodes: readonly ClusterNode[]): void {
    for (const node of nodes) {
      const { client } = node
      node.client = undefined // node-redis 6.2.1 would keep the unusable client
      client?.destroy()
    }
    void this.#lookAgain()
  }

  /** Twice: the refresh that has waited for a node read the slots before that. */
  async #lookAgain(): Promise<void> {
    const look = async (): Promise<void> => this.#client._slots?.rediscover?.()
    await look().catch(() => undefined)
    await look().catch(() => undefined)
  }
}
