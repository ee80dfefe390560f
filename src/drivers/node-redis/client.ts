// The parts of the three kinds of node-redis clients that the driver uses. The real types carry the user's modules,
// scripts and RESP version in their parameters, which do not matter here.

import { inTime } from '../wire/time-limit.ts'
import type { EndOfCall } from './end-of-call.ts'
import type { WireArgument } from '../wire/wire.ts'

export interface SendOptions {
  typeMapping?: object
  timeout?: number | undefined
  abortSignal?: EndOfCall
}

/** Common to all kinds of clients. */
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

/** A duplicate that only subscribes. */
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
  /** Set while it connects for the first time. */
  readonly connectPromise?: Promise<unknown> | undefined
}

export interface ClusterClient extends Emitter {
  readonly isReady: boolean
  readonly isOpen: boolean
  readonly masters: readonly ClusterNode[]
  /** Empty unless the client reads from replicas. */
  readonly replicas: readonly ClusterNode[]
  /** By slot number; slots without a known node are missing. */
  readonly slots: readonly ({ readonly master: ClusterNode } | undefined)[]
  /** Private, because node-redis has no public way to refresh its view of the cluster. */
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
  _execute<Result>(
    isReadonly: boolean | undefined,
    use: (client: NodeClient) => Promise<Result>,
  ): Promise<Result>
}

/** Equal for a client and its views (`withTypeMapping`, `withCommandOptions`), which share its connections. */
export function sharedBy<Client extends object>(client: Client): Client {
  return '_self' in client && client._self instanceof Object ? (client._self as Client) : client
}

const listenable = new WeakSet<object>()

/**
 * Where to listen to a client. `createClient` and views return objects that inherit the listeners from one client, but
 * count only those that were added through themselves: when that number falls to zero, Node forgets all. So this one,
 * which emits the events, keeps a listener for ever.
 */
export function emitterOf<Client extends Emitter>(client: Client): Client {
  const own = sharedBy(client)
  if (!listenable.has(own)) own.on('perilune', () => undefined)
  listenable.add(own)
  return own
}

/** Clients whose connection is being closed, each with the end of that. */
const quitting = new WeakMap<object, Promise<void>>()

/** Has the server close the connection, after which node-redis reconnects; resolves once it is closed. */
export function quit(node: NodeClient): Promise<void> {
  if (!node.isReady) return Promise.resolve()
  const own = sharedBy(node)
  const before = quitting.get(own)
  if (before !== undefined) return before
  // An unreachable server never receives the QUIT.
  const gone = inTime(quitOnce(node), 'QUIT')
    .catch(() => replace(node))
    .finally(() => quitting.delete(own))
  quitting.set(own, gone)
  return gone
}

function quitOnce(node: NodeClient): Promise<void> {
  const own = emitterOf(node)
  return new Promise((resolve) => {
    const gone = (): void => {
      own.off('error', gone)
      own.off('end', gone)
      resolve()
    }
    own.on('error', gone)
    own.on('end', gone)
    // The answer proves nothing: it may belong to another call.
    node.sendCommand(['QUIT']).catch(() => undefined)
  })
}

/** Clients that are closed for a moment, and reconnect. */
const replaced = new WeakSet<object>()

export function isReplaced(node: NodeClient): boolean {
  return replaced.has(sharedBy(node))
}

/**
 * Ends the connection without notifying the server, which may be unreachable; the client reconnects. A client that its
 * user has closed in the meantime stays closed.
 */
export async function replace(node: NodeClient): Promise<void> {
  if (!node.isOpen) return
  const wasReady = node.isReady
  replaced.add(sharedBy(node))
  node.destroy()
  // Let a connection attempt end first: otherwise node-redis would continue it in parallel.
  if (!wasReady) await new Promise((resolve) => setImmediate(resolve))
  replaced.delete(sharedBy(node))
  if (!node.isOpen) node.connect().catch(() => undefined) // it keeps retrying by itself, and reports to its user
}

type Strategy = (retries: number, cause: Error) => unknown

const strategies = new WeakMap<object, boolean>()

/**
 * Whether the client would reconnect by itself, by the first answer of its `reconnectStrategy`. That function is the
 * user's, who may count losses in it or end the process: asked once, and only when the connection is to be dropped.
 */
export function connectsAgain({ options }: NodeClient): boolean {
  const socket = options?.socket ?? {}
  if (!('reconnectStrategy' in socket)) return true
  const { reconnectStrategy: strategy } = socket
  if (typeof strategy !== 'function') return strategy !== false
  const known = strategies.get(strategy) ?? !givesUp(strategy as Strategy)
  strategies.set(strategy, known)
  return known
}

/** Where the strategy throws, or returns nothing, node-redis uses its own. */
function givesUp(strategy: Strategy): boolean {
  try {
    const answer = strategy(0, new Error('Socket closed unexpectedly'))
    return answer === false || answer instanceof Error
  } catch {
    return false
  }
}
