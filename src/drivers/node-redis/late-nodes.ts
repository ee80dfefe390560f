// Nodes of a cluster to which the first connection does not come about, such as one that was promoted and died at once. node-redis
// (6.3.1) waits for it for ever, and looks at the cluster no more until then, though other nodes have the slots by now.

import type { ClusterClient, ClusterNode } from './client.ts'

const LOOK_MS = 1000
/** Twice as long as one attempt to connect takes by default. */
const PATIENCE_MS = 10_000

export class LateNodes {
  readonly #client: ClusterClient
  #timer: NodeJS.Timeout | undefined
  /** Since when the clients of nodes are awaited, by `performance.now()`. */
  #awaited = new Map<ClusterNode['client'], number>()

  constructor(client: ClusterClient) {
    this.#client = client
  }

  /** To be called when not all nodes are connected. */
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

  /** Those that are connecting for the first time. */
  #connecting(): ClusterNode[] {
    const nodes = [...this.#client.masters, ...this.#client.replicas]
    return nodes.filter(({ client, connectPromise }) => client !== undefined && connectPromise !== undefined)
  }

  /** What waits for them fails. Who needs one of them has it connect anew. */
  #giveUp(nodes: readonly ClusterNode[]): void {
    for (const node of nodes) {
      const { client } = node
      node.client = undefined // node-redis 6.2.1 would keep it, and use it no more
      client?.destroy()
    }
    void this.#lookAgain()
  }

  /** Twice: the look that has waited for a node asked for the slots before it did. */
  async #lookAgain(): Promise<void> {
    const look = async (): Promise<void> => this.#client._slots?.rediscover?.()
    await look().catch(() => undefined)
    await look().catch(() => undefined)
  }
}
