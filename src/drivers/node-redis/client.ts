// The parts of the three kinds of node-redis clients that the driver uses. The real types carry the
// user's modules, scripts and RESP version in their parameters, none of which matters here.

import { inTime } from '../wire/time-limit.ts'
import type { WireArgument } from '../wire/wire.ts'

export interface SendOptions {
  typeMapping?: object
  timeout?: undefined
}

/** What all kinds of clients offer. */
export interface Emitter {
  on(event: string, listener: () => void): unknown
  off(event: string, listener: () => void): unknown
}

export interface NodeClient extends Emitter {
  readonly isReady: boolean
  readonly isOpen: boolean
  readonly isPubSubActive: boolean
  readonly options?: { readonly socket?: object; readonly RESP?: number; readonly database?: number }
  sendCommand(args: WireArgument[], options?: object): Promise<unknown>
  duplicate(overrides?: object): ListeningClient
  connect(): Promise<unknown>
  destroy(): void
  on(event: string | symbol, listener: () => void): unknown
  off(event: string | symbol, listener: () => void): unknown
}

export type OnMessage = (message: string, channel: string) => void

/** What a duplicate is used for. */
export interface ListeningClient {
  readonly isOpen: boolean
  connect(): Promise<unknown>
  sendCommand(args: string[]): Promise<unknown>
  subscribe(channel: string, onMessage: OnMessage): Promise<unknown>
  sSubscribe(channel: string, onMessage: OnMessage): Promise<unknown>
  unsubscribe(channel: string, onMessage: OnMessage): Promise<unknown>
  sUnsubscribe(channel: string, onMessage: OnMessage): Promise<unknown>
  destroy(): void
  on(event: string, listener: (first: unknown) => void): unknown
}

export interface ClusterNode {
  readonly address: string
  client?: NodeClient | undefined
  /** While it connects for the first time. */
  readonly connectPromise?: Promise<unknown> | undefined
}

export interface ClusterClient extends Emitter {
  readonly isReady: boolean
  readonly isOpen: boolean
  readonly masters: readonly ClusterNode[]
  /** Empty unless it reads from them. */
  readonly replicas: readonly ClusterNode[]
  /** By their numbers; those that no node was known to have are missing. */
  readonly slots: readonly ({ readonly master: ClusterNode } | undefined)[]
  /** Nothing public has it look at the cluster again. */
  readonly _slots?: { rediscover?(startWith?: object): Promise<void> }
  sendCommand(
    firstKey: WireArgument | undefined,
    isReadonly: boolean | undefined,
    args: WireArgument[],
    options?: object,
  ): Promise<unknown>
  nodeClient(node: ClusterNode): NodeClient | Promise<NodeClient>
}

export interface SentinelClient extends Emitter {
  readonly isReady: boolean
  readonly isOpen: boolean
  sendCommand(isReadonly: boolean | undefined, args: WireArgument[], options?: object): Promise<unknown>
  getSentinelNode(): unknown
  _execute(
    isReadonly: boolean | undefined,
    use: (client: NodeClient) => Promise<NodeClient>,
  ): Promise<NodeClient>
}

/** Those whose connection is being closed, and until when. */
const quitting = new WeakMap<NodeClient, Promise<void>>()

/** Has the server close the connection, after which node-redis connects again; resolves once it is gone. */
export function quit(node: NodeClient): Promise<void> {
  if (!node.isReady) return Promise.resolve()
  const before = quitting.get(node)
  if (before !== undefined) return before
  // A server that is gone hears nothing of it.
  const gone = inTime(quitOnce(node), 'QUIT')
    .catch(() => replace(node))
    .finally(() => quitting.delete(node))
  quitting.set(node, gone)
  return gone
}

function quitOnce(node: NodeClient): Promise<void> {
  return new Promise((resolve) => {
    const gone = (): void => {
      node.off('error', gone)
      node.off('end', gone)
      resolve()
    }
    node.on('error', gone)
    node.on('end', gone)
    // Whether this is answered, and how, tells nothing: it may be the answer to another call.
    node.sendCommand(['QUIT']).catch(() => undefined)
  })
}

/** Those that are closed for a moment, and connect again. */
const replaced = new WeakSet<NodeClient>()

export function isReplaced(node: NodeClient): boolean {
  return replaced.has(node)
}

/**
 * Ends the connection without a word to the server, which may not hear it; the client connects again. One that its user has closed
 * meanwhile stays closed.
 */
export async function replace(node: NodeClient): Promise<void> {
  if (!node.isOpen) return
  const wasReady = node.isReady
  replaced.add(node)
  node.destroy()
  // What it was in the middle of ends first: node-redis would go on with that, besides.
  if (!wasReady) await new Promise((resolve) => setImmediate(resolve))
  replaced.delete(node)
  if (!node.isOpen) node.connect().catch(() => undefined) // it goes on trying by itself, and tells its user
}

export function connectsAgain({ options }: NodeClient): boolean {
  const socket = options?.socket ?? {}
  return !('reconnectStrategy' in socket) || socket.reconnectStrategy !== false
}
