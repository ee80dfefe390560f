// The three kinds of clients behind one face.

import { ConnectionLostError } from '../driver.ts'
import {
  type ClusterClient,
  type ClusterNode,
  type Emitter,
  type NodeClient,
  quit,
  type SendOptions,
  type SentinelClient,
} from './node-redis-client.ts'
import { slotOf } from './slot.ts'
import type { WireArgument } from './wire.ts'

export interface Connections {
  readonly cluster: boolean
  readonly isOpen: boolean
  readonly isReady: boolean
  /** True when a command sent now is written in this very tick: a time limit for its queueing has no use. */
  readonly writesAtOnce: boolean
  /** The replies that tell that another server may be the primary by now. */
  readonly signsOfFailover: readonly string[]
  /** Asks who is the primary, or connects again: the address may lead to another server. */
  findPrimary(): Promise<void>
  send(key: WireArgument | undefined, args: WireArgument[], options?: SendOptions): Promise<unknown>
  masters(): Promise<NodeClient[]>
  /** The addresses of all masters; with a key, the one that serves it first. */
  addresses(key?: string): string[]
  /** A client for the node, or for any node when this one is not known. */
  nodeAt(address: string): Promise<NodeClient>
  /** `onChange` is called when the client has connected, or uses other nodes. Returns how to stop watching. */
  watch(onChange: () => void): () => void
}

export function connectionsOf(client: NodeClient | ClusterClient | SentinelClient): Connections {
  if ('nodeClient' in client) return new ClusterConnections(client)
  if ('getSentinelNode' in client) return new SentinelConnections(client)
  return new SingleConnection(client)
}

function listen(client: Emitter, event: string, onEvent: () => void): () => void {
  client.on(event, onEvent)
  return () => void client.off(event, onEvent)
}

class SingleConnection implements Connections {
  readonly cluster = false
  readonly signsOfFailover: readonly string[]
  readonly #client: NodeClient

  constructor(client: NodeClient) {
    this.#client = client
    this.signsOfFailover = connectsAgain(client) ? ['READONLY'] : []
  }

  findPrimary(): Promise<void> {
    return quit(this.#client)
  }

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  get writesAtOnce(): boolean {
    return this.#client.isReady
  }

  send(_key: WireArgument | undefined, args: WireArgument[], options?: SendOptions): Promise<unknown> {
    return this.#client.sendCommand(args, options)
  }

  async masters(): Promise<NodeClient[]> {
    return [this.#client]
  }

  addresses(): string[] {
    return ['']
  }

  async nodeAt(): Promise<NodeClient> {
    return this.#client
  }

  watch(onChange: () => void): () => void {
    return listen(this.#client, 'ready', onChange)
  }
}

function connectsAgain({ options }: NodeClient): boolean {
  const socket = options?.socket ?? {}
  return !('reconnectStrategy' in socket) || socket.reconnectStrategy !== false
}

class ClusterConnections implements Connections {
  readonly cluster = true
  readonly signsOfFailover: readonly string[] = [] // it is told by MOVED
  readonly #client: ClusterClient

  constructor(client: ClusterClient) {
    this.#client = client
  }

  async findPrimary(): Promise<void> {}

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  get writesAtOnce(): boolean {
    return this.#client.masters.every((node) => node.client?.isReady === true)
  }

  send(key: WireArgument | undefined, args: WireArgument[], options?: SendOptions): Promise<unknown> {
    return this.#client.sendCommand(key, false, args, options)
  }

  masters(): Promise<NodeClient[]> {
    if (!this.#client.isReady)
      return Promise.reject(new ConnectionLostError('the cluster client is not connected', false))
    return Promise.all(this.#client.masters.map((node) => this.#connect(node)))
  }

  addresses(key?: string): string[] {
    const all = this.#client.masters.map((node) => node.address)
    const owner = key === undefined ? undefined : this.#client.slots[slotOf(key)]?.master.address
    return owner === undefined ? all : [owner, ...all.filter((address) => address !== owner)]
  }

  async nodeAt(address: string): Promise<NodeClient> {
    const node = this.#client.masters.find((master) => master.address === address) ?? this.#client.masters[0]
    if (node === undefined) throw new ConnectionLostError('the cluster client is not connected', false)
    return this.#connect(node)
  }

  watch(onChange: () => void): () => void {
    return listen(this.#client, 'node-ready', onChange)
  }

  async #connect(node: ClusterNode): Promise<NodeClient> {
    return this.#client.nodeClient(node)
  }
}

class SentinelConnections implements Connections {
  readonly cluster = false
  readonly signsOfFailover = ['NOREPLICAS'] as const // READONLY is one to node-redis itself
  readonly writesAtOnce = true // it waits for a primary by itself before it queues anything
  readonly #client: SentinelClient

  constructor(client: SentinelClient) {
    this.#client = client
  }

  /** After this error node-redis asks the Sentinels, and then does it again. */
  async findPrimary(): Promise<void> {
    let asked = false
    await this.#client._execute(false, async (client) => {
      if (asked) return client
      asked = true
      throw new Error('READONLY the server has lost its replicas')
    })
  }

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  send(_key: WireArgument | undefined, args: WireArgument[], options?: SendOptions): Promise<unknown> {
    return this.#client.sendCommand(false, args, options)
  }

  async masters(): Promise<NodeClient[]> {
    return [await this.nodeAt()]
  }

  addresses(): string[] {
    return ['']
  }

  async nodeAt(): Promise<NodeClient> {
    return this.#client._execute(false, async (client) => client)
  }

  watch(onChange: () => void): () => void {
    return listen(this.#client, 'topology-change', onChange)
  }
}
