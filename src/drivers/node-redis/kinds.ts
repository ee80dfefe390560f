// Determines the kind of a client, and wraps a single client or one that uses Sentinels.

import {
  type ClusterClient,
  connectsAgain,
  type NodeClient,
  quit,
  type SendOptions,
  sharedBy,
  type SentinelClient,
} from './client.ts'
import { ConnectionLostError } from '../../driver.ts'
import { ClusterConnections } from './cluster.ts'
import { type Connections, listen } from './connections.ts'
import { GRACE_MS } from './end-of-call.ts'
import { explain } from './errors.ts'
import { Greetings, type OnGreeting } from './greetings.ts'
import { isRefusal, isReplica } from '../wire/primary-search.ts'
import type { WireArgument } from '../wire/wire.ts'

export function connectionsOf(client: NodeClient | ClusterClient | SentinelClient): Connections {
  if ('nodeClient' in client) return new ClusterConnections(client)
  if ('getSentinelNode' in client) return new SentinelConnections(client)
  return new SingleConnection(client)
}

class SingleConnection implements Connections {
  readonly cluster = false
  readonly #client: NodeClient
  readonly #greetings = new Greetings()

  constructor(client: NodeClient) {
    this.#client = client
  }

  get target(): string {
    const socket: { host?: string; port?: number; path?: string } = this.#client.options?.socket ?? {}
    return socket.path ?? `${socket.host ?? 'localhost'}:${socket.port ?? 6379}`
  }

  isGreeting(): boolean {
    return this.#greetings.isDue(sharedBy(this.#client))
  }

  isAstray(error: Error): boolean {
    return isRefusal(error, 'READONLY', 'MOVED') && connectsAgain(this.#client)
  }

  askRole(error: Error): Promise<boolean> | null {
    return isRefusal(error, 'MOVED') ? isReplica(this.#client.sendCommand(['INFO', 'replication'])) : null
  }

  findPrimary(): Promise<void> {
    return quit(this.#client)
  }

  /** There is only one server to ask. */
  lookPast(): void {}

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

  masters(): Promise<NodeClient>[] {
    return [this.nodeAt()]
  }

  addressOf(): undefined {}

  addresses(): string[] {
    return ['']
  }

  async nodeAt(): Promise<NodeClient> {
    return this.#client
  }

  placeOf(): object {
    return sharedBy(this.#client)
  }

  nodeOf(): Promise<NodeClient> {
    return this.nodeAt()
  }

  watch(onChange: () => void, onGreeting: OnGreeting): () => void {
    this.#greetings.watch([sharedBy(this.#client)], onGreeting)
    const stop = listen(this.#client, 'ready', onChange)
    return () => {
      stop()
      this.#greetings.stop()
    }
  }
}

class SentinelConnections implements Connections {
  readonly cluster = false
  readonly target = 'the primary of Sentinels'
  readonly writesAtOnce = true // it waits for a primary itself before it queues a command
  readonly #client: SentinelClient

  constructor(client: SentinelClient) {
    this.#client = client
  }

  isAstray(error: Error): boolean {
    return isRefusal(error, 'NOREPLICAS') // node-redis itself reacts to READONLY
  }

  askRole(): null {
    return null
  }

  /** On this error node-redis asks the Sentinels and then runs the function again. */
  async findPrimary(): Promise<void> {
    let asked = false
    await this.#client._execute(false, async (client) => {
      if (asked) return client
      asked = true
      throw new Error('READONLY the server has lost its replicas')
    })
  }

  isGreeting(): boolean {
    return false
  }

  /** node-redis listens to the Sentinels itself. */
  lookPast(): void {}

  get isOpen(): boolean {
    return this.#client.isOpen
  }

  get isReady(): boolean {
    return this.#client.isReady
  }

  send(
    _key: WireArgument | undefined,
    args: WireArgument[],
    options?: SendOptions,
    by = Infinity,
  ): Promise<unknown> {
    let lost: Error | null = null
    // node-redis would send again what may have happened. After an answer such as READONLY it may: nothing happened.
    return this.#client._execute(false, async (client) => {
      if (lost !== null) throw lost
      // It has waited for a primary.
      if (performance.now() > by + GRACE_MS)
        throw new ConnectionLostError('the call has ended before it was sent', false)
      return client.sendCommand(args, options).catch((error: Error) => {
        const explained = explain(error, { written: true })
        if (explained instanceof ConnectionLostError && explained.sent) lost = error
        throw error
      })
    })
  }

  masters(): Promise<NodeClient>[] {
    return [this.nodeAt()]
  }

  addressOf(): undefined {}

  addresses(): string[] {
    return ['']
  }

  async nodeAt(): Promise<NodeClient> {
    return this.#client._execute(false, async (client) => client)
  }

  placeOf(): object {
    return this.#client
  }

  nodeOf(): Promise<NodeClient> {
    return this.nodeAt()
  }

  watch(onChange: () => void): () => void {
    return listen(this.#client, 'topology-change', onChange)
  }
}
