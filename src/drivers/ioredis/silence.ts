// Detects and ends silent connections of ioredis.

import type { Cluster, Redis } from 'ioredis'
import { isCluster, nodeAt, ownerOf, reconnects } from './client.ts'
import { openLine } from './line.ts'
import type { WatchedConnections } from '../wire/watched-connections.ts'
import type { PendingRun } from '../wire/pending-runs.ts'
import { bytesOf } from '../wire/wire.ts'

/** Two seconds, including the round of the check. */
const PATIENCE = 3

/** Blocking commands of the user, which delay the commands after them. */
const WAITING =
  /^(?:bl(?:move|mpop|pop)|br(?:pop|poplpush)|bz(?:mpop|popmax|popmin)|xread|xreadgroup|wait|waitaof)$/i

export function listenTo(client: Redis | Cluster): WatchedConnections<Redis> {
  return {
    patience: PATIENCE,
    placeOf: ({ key, node }) => {
      if (!isCluster(client)) return client
      return node ?? (key === '' ? undefined : ownerOf(client, key))
    },
    over: (run) => {
      const node = nodeOf(client, run)
      const isOver = node !== undefined && isConnected(node) && isDue(node, run)
      // A client that would not reconnect is left alone.
      return isOver && (isCluster(client) || reconnects(node)) ? node : undefined
    },
    patienceWith: () => PATIENCE,
    // Includes the commands of the user.
    sent: (_, node) => bytesOf(firstOf(node)?.args ?? []),
    signs: ({ stream }) => ({ of: stream, read: stream.bytesRead }),
    open: (node, events) => openLine(node, {}, false, events),
    // `disconnect` would wait until the other side has ended the connection too.
    drop: (node) => node.stream.destroy(),
    away: () => {
      if (isCluster(client)) client.refreshSlotsCache()
    },
  }
}

function nodeOf(client: Redis | Cluster, { key, node }: PendingRun<Redis>): Redis | undefined {
  if (!isCluster(client)) return client
  if (node !== undefined) return client.nodes('master').find((each) => each === node)
  return key === '' ? undefined : nodeAt(client, ownerOf(client, key))
}

/** Also while the server has not answered ioredis's first requests, which have no time limit. */
function isConnected({ status, stream }: Redis): boolean {
  return (status === 'ready' || status === 'connect') && stream.writable
}

/** Not overdue: a call sent to another node, or one that waits after a blocking command. */
function isDue(node: Redis, { waitsMs }: PendingRun<Redis>): boolean {
  const first = firstOf(node)
  if (first === undefined) return false
  // The waiting time of our own calls is known.
  return !WAITING.test(first.name) || (waitsMs !== undefined && first.name === 'wait')
}

function firstOf({
  commandQueue,
}: Redis): { readonly name: string; readonly args: readonly unknown[] } | undefined {
  return commandQueue.peekFront()?.command
}
