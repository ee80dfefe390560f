// Details of an ioredis client that the driver depends on.

import type { Cluster, Redis, RedisOptions } from 'ioredis'
import { connectThroughFailovers } from './detector.ts'
import type { PendingRun, PendingRuns } from '../wire/pending-runs.ts'
import { isRefusal, isReplica, PrimarySearch } from '../wire/primary-search.ts'
import { slotOf } from '../wire/slot.ts'
import { forgetSent } from './commands.ts'

/** True when a command sent now is written in this tick, without waiting for a connection. */
export function writesAtOnce(client: Redis): boolean {
  return client.status === 'ready' && client.stream.writable
}

/**
 * How many commands a connection has taken that is being greeted: it takes some at once, such as INFO, and ioredis
 * forgets them when it is lost.
 */
export function takenBy(client: Redis): number {
  return client.status === 'connect' ? client.commandQueue.length : 0
}

/**
 * Gives up the runs of a connection when it closes, whatever ioredis does with them. `onChange` is called when the
 * client has connected, or uses other nodes. Returns a function that stops watching.
 */
export function watch(
  client: Redis | Cluster,
  pending: PendingRuns<Redis>,
  onChange: () => void,
): () => void {
  return isCluster(client) ? watchCluster(client, pending, onChange) : watchSingle(client, pending, onChange)
}

function watchSingle(client: Redis, pending: PendingRuns<Redis>, onChange: () => void): () => void {
  const onReady = () => {
    pending.markWritten()
    onChange()
  }
  const onClose = () => {
    forgetSent(client)
    pending.giveUp('the connection was lost', (run) => run.written)
  }
  const stop = connectThroughFailovers(client)
  const forget = followGreetings(client, pending)
  client.on('ready', onReady).on('close', onClose)
  return () => {
    stop()
    forget()
    client.off('ready', onReady).off('close', onClose)
  }
}

/**
 * Tracks the first requests of the client on a connection as outstanding answers, because ioredis waits for them
 * without a limit. Returns a function that stops tracking.
 */
function followGreetings(client: Redis, pending: PendingRuns<Redis>): () => void {
  let onGreeted = (): void => undefined
  const onConnect = (): void => {
    const greeted = new Promise<void>((resolve) => {
      onGreeted = resolve
    })
    pending.follow(greeted, { key: '', written: true, node: client }).catch(() => undefined) // has no caller
  }
  const onEnd = (): void => onGreeted()
  client.on('connect', onConnect).on('ready', onEnd).on('close', onEnd)
  return () => client.off('connect', onConnect).off('ready', onEnd).off('close', onEnd)
}

/** Watches every node of a cluster, including nodes added later, like a single server. */
function watchCluster(cluster: Cluster, pending: PendingRuns<Redis>, onChange: () => void): () => void {
  const watched = new Map<Redis, () => void>()
  const onNode = (node: Redis) => {
    const onClose = () => {
      forgetSent(node)
      const address = addressOf(node)
      const isOfIt = (run: PendingRun<Redis>): boolean =>
        run.node === undefined ? ownerOf(cluster, run.key) === address : run.node === node
      pending.giveUp('the connection was lost', isOfIt)
    }
    const forget = followGreetings(node, pending)
    watched.set(node, () => {
      forget()
      node.off('close', onClose)
    })
    onChange()
    node.on('close', onClose).once('end', () => watched.delete(node))
  }
  const onEnd = () => pending.giveUp('the client was closed', () => true)
  for (const node of cluster.nodes()) onNode(node)
  cluster.on('+node', onNode).on('end', onEnd).on('ready', onChange).on('-node', onChange)
  return () => {
    cluster.off('+node', onNode).off('end', onEnd).off('ready', onChange).off('-node', onChange)
    for (const forget of watched.values()) forget()
  }
}

/**
 * Reconnects to find the primary, unless the client would not reconnect: through Sentinel, or to an address that may
 * lead to another server by now. Null for a cluster, which reports it by MOVED.
 */
export function searchOf(client: Redis | Cluster): PrimarySearch | null {
  if (isCluster(client)) return null
  const word = client.options.sentinels ? 'NOREPLICAS' : 'MOVED'
  const isSign = (error: Error): boolean => isRefusal(error, 'READONLY', word)
  return new PrimarySearch(isSign, (error) => void lookAfter(client, error))
}

async function lookAfter(client: Redis, error: Error): Promise<void> {
  const isLost = !isRefusal(error, 'MOVED') || (await isReplica(client.info('replication')))
  if (isLost && client.status === 'ready' && reconnects(client)) client.disconnect(true)
}

const strategies = new WeakMap<object, boolean>()

/**
 * Whether the client would reconnect by itself, by the first answer of its `retryStrategy`. That function is the
 * user's, who may count losses in it or end the process: asked once, and only when the connection is to be dropped.
 */
export function reconnects({ options: { retryStrategy: strategy } }: Redis): boolean {
  if (typeof strategy !== 'function') return false
  const known = strategies.get(strategy) ?? typeof strategy(1) === 'number'
  strategies.set(strategy, known)
  return known
}

export function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster
}

/** Resolves once the client knows the nodes. Connects a client that waits for its first command (`lazyConnect`). */
export async function readiness(cluster: Cluster): Promise<void> {
  let onReady = (): void => undefined
  const ready = new Promise<void>((resolve) => {
    onReady = resolve
  })
  cluster.once('ready', onReady)
  try {
    // A command without a key goes to any node, which may be silent. Without any node it rejects with the reason.
    await Promise.race([ready, cluster.call('ping')])
  } finally {
    cluster.off('ready', onReady)
  }
}

export function ownerOf(cluster: Cluster, key: string): string | undefined {
  return cluster.slots[slotOf(key)]?.[0]
}

export function nodeAt(cluster: Cluster, address: string | undefined): Redis | undefined {
  return cluster.nodes('master').find((node) => addressOf(node) === address)
}

export function databaseOf(client: Redis | Cluster): number | undefined {
  return isCluster(client) ? client.options.redisOptions?.db : client.options.db
}

/** Where the client connects: addresses, a socket, or the name that the Sentinels know; empty when unknown. */
export function targetOf(client: Redis | Cluster): string {
  if (isCluster(client)) return client.nodes('master').map(addressOf).join(', ')
  const { name, path, sentinels } = client.options
  return (sentinels ? name : path) ?? addressOf(client)
}

/** The remote address of the command connection, if it has one. */
export function peerOf(client: Redis): string | undefined {
  // Undefined before the first connection, despite its type.
  const stream: Partial<Redis['stream']> | undefined = client.stream
  const host = stream?.remoteAddress
  return host === undefined ? undefined : `${host}:${stream?.remotePort}`
}

/** Options for a separate connection to this address, bypassing the Sentinels. */
export function straightTo(address: string, { options }: Redis): RedisOptions {
  const colon = address.lastIndexOf(':')
  const place = {
    host: address.slice(0, colon),
    port: Number(address.slice(colon + 1)),
    sentinels: undefined,
  }
  return options.sentinels && !options.enableTLSForSentinelMode ? { ...place, tls: undefined } : place
}

export function addressOf(node: Redis): string {
  return `${node.options.host}:${node.options.port}`
}
