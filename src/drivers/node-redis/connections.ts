// What the three kinds of clients offer the driver.

import type { Emitter, NodeClient, SendOptions } from './client.ts'
import type { OnGreeting } from './greetings.ts'
import type { WireArgument } from '../wire/wire.ts'

export interface Connections {
  readonly cluster: boolean
  readonly isOpen: boolean
  readonly isReady: boolean
  /** True when a command sent now is written in this very tick: a time limit for its queueing has no use. */
  readonly writesAtOnce: boolean
  /** Whether what a call has failed with tells that the client may look to the wrong servers, or to none. */
  isAstray(error: Error): boolean
  /** Asks who is the primary, or connects again: the address may lead to another server. Resolves when calls may be sent again. */
  findPrimary(): Promise<void>
  /** True while the server of this node has not answered yet what a client asks that has connected again. */
  isGreeting(node: NodeClient): boolean
  /** The server of this node does not answer: there may be another one in its place by now. */
  lookPast(silent: NodeClient): void
  send(key: WireArgument | undefined, args: WireArgument[], options?: SendOptions): Promise<unknown>
  /** Each once it is connected. */
  masters(): Promise<NodeClient>[]
  /** Of the node of a cluster that serves the key, where that is known; undefined where there is no other one. */
  addressOf(key: string): string | undefined
  /** The addresses of all masters; with a key, the one that serves it first. */
  addresses(key?: string): string[]
  /** A client for the node, or for any node when this one is not known. */
  nodeAt(address: string): Promise<NodeClient>
  /** The same for all keys that are served over one connection; undefined: nobody knows that. */
  placeOf(key: string): object | undefined
  /** A client for the node that serves the key. */
  nodeOf(key: string): Promise<NodeClient>
  /** `onChange` is called when the client has connected, or uses other nodes. Returns how to stop watching. */
  watch(onChange: () => void, onGreeting: OnGreeting): () => void
}

/** Returns how to stop listening. */
export function listen(client: Emitter, event: string, onEvent: () => void): () => void {
  client.on(event, onEvent)
  return () => void client.off(event, onEvent)
}
