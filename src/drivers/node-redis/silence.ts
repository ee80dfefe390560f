// Detects and ends silent connections of node-redis.

import type { WatchedConnections } from '../wire/watched-connections.ts'
import { connectsAgain, type NodeClient, replace, sharedBy } from './client.ts'
import type { Connections } from './connections.ts'
import { openLine } from './line.ts'
import type { PendingRun } from '../wire/pending-runs.ts'
import { inTime } from '../wire/time-limit.ts'

/** Two seconds, including the round of the check: the answers to a connecting client are small and come at once. */
const PATIENCE_WITH_GREETING = 3
/** node-redis does not show whether data was read, so a partial long answer is no sign of life. */
const PATIENCE = 9
const PATIENCE_WHERE_LARGE = 60

export function listenTo(connections: Connections): WatchedConnections<NodeClient> {
  return {
    patience: PATIENCE_WITH_GREETING,
    placeOf: ({ key, node }) => (node === undefined ? connections.placeOf(key) : sharedBy(node)),
    over: async (run) => {
      const node = await nodeOf(connections, run)
      const isConnected = node?.isReady === true || (node !== undefined && connections.isGreeting(node))
      return isConnected && node.isOpen && connectsAgain(node) ? node : undefined
    },
    patienceWith: ({ isLarge }, node) => {
      if (!node.isReady) return PATIENCE_WITH_GREETING
      return isLarge ? PATIENCE_WHERE_LARGE : PATIENCE
    },
    sent: ({ bytes = 0 }) => bytes,
    signs: (node) => ({ of: node, read: 0 }),
    open: (node, events) => openLine(node, {}, false, events),
    drop: (node) => void replace(node),
    away: (node) => connections.lookPast(node),
  }
}

async function nodeOf(
  connections: Connections,
  { key, node }: PendingRun<NodeClient>,
): Promise<NodeClient | undefined> {
  if (node !== undefined || (connections.cluster && key === '')) return node
  return inTime(connections.nodeOf(key), 'the node')
}
