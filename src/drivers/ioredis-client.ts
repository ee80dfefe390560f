// What the driver must know about the innards of an ioredis client.

import type { Cluster, Redis } from 'ioredis'
import type { PendingRun, PendingRuns } from './pending.ts'
import { slotOf } from './slot.ts'

export type Sender = Pick<Redis, 'call' | 'callBuffer'>

/** With auto-pipelining on, a cluster would send our calls in pipelines, and those do not follow MOVED. */
export function senderOf(client: Redis | Cluster): Sender {
  if (!client.options.enableAutoPipelining) return client
  const own = {
    options: { ...client.options, enableAutoPipelining: false },
    sendCommand: client.sendCommand.bind(client),
  }
  return Object.setPrototypeOf(own, client)
}

export function refuseUnsuitable(client: Redis | Cluster): void {
  const options = isCluster(client) ? { ...client.options.redisOptions, ...client.options } : client.options
  if (options.keyPrefix)
    throw new TypeError(
      'this ioredis client has a keyPrefix, which would rename the keys: set a namespace instead',
    )
  const node = isCluster(client) ? client.options.redisOptions : client.options
  if (node?.stringNumbers)
    throw new TypeError('this ioredis client has stringNumbers on, which changes the replies')
  if (node?.replyMapping === 'resp3')
    throw new TypeError("this ioredis client has replyMapping 'resp3', which changes the replies")
}

/** A run is lost when its connection closes, whatever ioredis does about it. Returns how to stop watching. */
export function watch(client: Redis | Cluster, pending: PendingRuns): () => void {
  return isCluster(client) ? watchCluster(client, pending) : watchSingle(client, pending)
}

function watchSingle(client: Redis, pending: PendingRuns): () => void {
  const onReady = () => pending.markWritten()
  const onClose = () => pending.giveUp('the connection was lost', (run) => run.written)
  client.on('ready', onReady).on('close', onClose)
  return () => client.off('ready', onReady).off('close', onClose)
}

/** As for a single server, for every node that comes and goes. */
function watchCluster(cluster: Cluster, pending: PendingRuns): () => void {
  const watched = new Map<Redis, () => void>()
  const onNode = (node: Redis) => {
    const onClose = () => {
      const address = addressOf(node)
      pending.giveUp('the connection was lost', (run: PendingRun) => ownerOf(cluster, run.key) === address)
    }
    watched.set(node, onClose)
    node.on('close', onClose).once('end', () => watched.delete(node))
  }
  const onEnd = () => pending.giveUp('the client was closed', () => true)
  for (const node of cluster.nodes()) onNode(node)
  cluster.on('+node', onNode).on('end', onEnd)
  return () => {
    cluster.off('+node', onNode).off('end', onEnd)
    for (const [node, onClose] of watched) node.off('close', onClose)
  }
}

export function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster
}

export function ownerOf(cluster: Cluster, key: string): string | undefined {
  return cluster.slots[slotOf(key)]?.[0]
}

export function nodeAt(cluster: Cluster, address: string | undefined): Redis | undefined {
  return cluster.nodes('master').find((node) => addressOf(node) === address)
}

export function addressOf(node: Redis): string {
  return `${node.options.host}:${node.options.port}`
}
