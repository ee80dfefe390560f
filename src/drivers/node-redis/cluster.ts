import { ConnectionLostError } from '../../driver.ts'
import {
  type ClusterClient,
  type ClusterNode,
  isReplaced,
  type NodeClient,
  type SendOptions,
} from './client.ts'
import { type Connections, listen } from './connections.ts'
import { EndOfCall } from './end-of-call.ts'
import { NO_NODE } from './errors.ts'
import { Greetings, type OnGreeting } from './greetings.ts'
import { LateNodes } from './late-nodes.ts'
import { slotOf } from '../wire/slot.ts'
import type { WireArgument } from '../wire/wire.ts'

export class ClusterConnections implements Connections {
  readonly cluster = true
  readonly #client: ClusterClient
  readonly #late: LateNodes
  readonly #greetings = new Greetings()

  constructor(client: ClusterClient) {
    this.#client = client
    this.#late = new LateNodes(client)
  }

  /**
   * MOVED shows node-redis that its slot table is outdated. Two other states go unnoticed. The table may lack slots,
   * because a node that is asked during a failover may not know their owner; node-redis (6.3.1) then throws for every
   * key of them, permanently. And a node that its `reconnectStrategy` has given up keeps its closed client.
   */
  isAstray(error: Error): boolean {
    return error.message === NO_NODE || (error instanceof ConnectionLostError && this.#givenUp().length > 0)
  }

  askRole(): null {
    return null
  }

  /** Not awaited: calls for other slots continue. */
  async findPrimary(): Promise<void> {
    for (const node of this.#givenUp()) node.client = undefined // the next user of the node connects a new client
    this.#client._slots?.rediscover?.().catch(() => undefined) // the next failed call retries this
  }

  /**
   * Refreshes the view of the cluster from another node than this silent one: node-redis would wait for it and ask no
   * other.
   */
  lookPast(silent: NodeClient): void {
    const others = this.#client.masters.flatMap(({ client }) =>
      client !== undefined && client !== silent && client.isReady ? [client] : [],
    )
    const other = others[Math.floor(Math.random() * others.length)]
    if (other !== undefined) this.#client._slots?.rediscover?.(other).catch(() => undefined) // retried while the node is silent
  }

  #givenUp(): ClusterNode[] {
    return this.#client.masters.filter(({ client }) => client?.isOpen === false && !isReplaced(client))
  }

  get target(): string {
    return this.addresses().join(', ')
  }

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  get writesAtOnce(): boolean {
    const { masters, replicas } = this.#client
    const areReady = masters.every(isReady)
    if (!areReady || !replicas.every(isReady)) this.#late.watch()
    return areReady
  }

  send(
    key: WireArgument | undefined,
    args: WireArgument[],
    options?: SendOptions,
    by?: number,
  ): Promise<unknown> {
    if (by === undefined) return this.#client.sendCommand(key, false, args, options)
    const abortSignal = new EndOfCall(by, this.writesAtOnce)
    return this.#client.sendCommand(key, false, args, { ...options, abortSignal })
  }

  masters(): Promise<NodeClient>[] {
    if (!this.#client.isReady)
      return [Promise.reject(new ConnectionLostError('the cluster client is not connected', false))]
    // One of the nodes that was asked for the others may not have been a primary.
    if (this.#client.masters.length === 0) return [Promise.reject(new ConnectionLostError(NO_NODE, false))]
    return this.#client.masters.map((node) => this.#connect(node))
  }

  addresses(key?: string): string[] {
    const all = this.#client.masters.map((node) => node.address)
    const owner = key === undefined ? undefined : this.addressOf(key)
    return owner === undefined ? all : [owner, ...all.filter((address) => address !== owner)]
  }

  addressOf(key: string): string | undefined {
    return this.#client.slots[slotOf(key)]?.master.address
  }

  async nodeAt(address: string): Promise<NodeClient> {
    const node = this.#client.masters.find((master) => master.address === address) ?? this.#client.masters[0]
    if (node === undefined) throw new ConnectionLostError('the cluster client is not connected', false)
    return this.#connect(node)
  }

  placeOf(key: string): object | undefined {
    return key === '' ? undefined : this.#client.slots[slotOf(key)]?.master
  }

  async nodeOf(key: string): Promise<NodeClient> {
    const owner = this.#client.slots[slotOf(key)]?.master
    if (owner === undefined) throw new ConnectionLostError(NO_NODE, false)
    return this.#connect(owner)
  }

  isGreeting(node: NodeClient): boolean {
    return this.#greetings.isDue(node)
  }

  watch(onChange: () => void, onGreeting: OnGreeting): () => void {
    const onReady = (): void => {
      this.#watchGreetings(onGreeting)
      onChange()
    }
    this.#watchGreetings(onGreeting)
    const stop = listen(this.#client, 'node-ready', onReady)
    return () => {
      stop()
      this.#greetings.stop()
      this.#late.stop()
    }
  }

  /** node-redis 6.2.1 emits the readiness of each node only once. */
  #watchGreetings(onGreeting: OnGreeting): void {
    const clients = this.#client.masters.flatMap(({ client }) => client ?? [])
    this.#greetings.watch(clients, onGreeting)
  }

  async #connect(node: ClusterNode): Promise<NodeClient> {
    return this.#client.nodeClient(node)
  }
}

function isReady({ client }: ClusterNode): boolean {
  return client?.isReady === true
}
