// What the three kinds of clients offer the driver.

import { type Emitter, emitterOf, type NodeClient, type SendOptions } from './client.ts'
import type { OnGreeting } from './greetings.ts'
import type { WireArgument } from '../wire/wire.ts'

export interface Connections {
  readonly cluster: boolean
  readonly isOpen: boolean
  readonly isReady: boolean
  /** Where it connects, in words; empty when unknown. */
  readonly target: string
  /** True when a command sent now is written in this tick: a time limit for its queueing is then useless. */
  readonly writesAtOnce: boolean
  /** Whether this error of a call shows that the client may use the wrong servers, or none. */
  isAstray(error: Error): boolean
  /** Whether the server that answered this is a replica; null if its answer says enough. */
  askRole(error: Error): Promise<boolean> | null
  /**
   * Finds the primary again, or reconnects: the address may lead to another server. Resolves when calls may be sent
   * again.
   */
  findPrimary(): Promise<void>
  /** True while the server of this node has not answered the first requests of a reconnected client. */
  isGreeting(node: NodeClient): boolean
  /** The server of this node does not answer: another one may have replaced it. */
  lookPast(silent: NodeClient): void
  /** `by`: as in ScriptCall, for a client that keeps calls by itself. */
  send(
    key: WireArgument | undefined,
    args: WireArgument[],
    options?: SendOptions,
    by?: number,
  ): Promise<unknown>
  /** One promise per primary; each resolves once its client is connected. */
  masters(): Promise<NodeClient>[]
  /** The address of the cluster node that serves the key, when known; undefined when there is only one connection. */
  addressOf(key: string): string | undefined
  /** The addresses of all primaries; with a key, the one that serves it first. */
  addresses(key?: string): string[]
  /** A client for the node, or for any node when this address is unknown. */
  nodeAt(address: string): Promise<NodeClient>
  /** Equal for all keys served over one connection; undefined when unknown. */
  placeOf(key: string): object | undefined
  /** A client for the node that serves the key. */
  nodeOf(key: string): Promise<NodeClient>
  /**
   * `onChange` is called when the client has connected, or uses other nodes. Returns a function that stops watching.
   */
  watch(onChange: () => void, onGreeting: OnGreeting): () => void
}

/** Returns a function that stops listening. */
export function listen(client: Emitter, event: string, onEvent: () => void): () => void {
  const own = emitterOf(client)
  own.on(event, onEvent)
  return () => void own.off(event, onEvent)
}
