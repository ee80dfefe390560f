// How a connection of ioredis that has fallen silent is known, and ended.

import type { Cluster, Redis } from 'ioredis'
import { isCluster, nodeAt, ownerOf } from './client.ts'
import { openLine } from './line.ts'
import { type WatchedConnections, NO_EVENTS } from '../wire/watched-connections.ts'
import type { PendingRun } from '../wire/pending-runs.ts'
import { bytesOf } from '../wire/wire.ts'

/** Two seconds with the round in which it is looked at again. */
const PATIENCE = 3

/** Commands of the user that wait at the server, and keep those behind them waiting. */
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
      return node !== undefined && isConnected(node) && isDue(node, run) ? node : undefined
    },
    patienceWith: () => PATIENCE,
    // That of the user, too.
    sent: (_, node) => bytesOf(firstOf(node)?.args ?? []),
    signs: ({ stream }) => ({ of: stream, read: stream.bytesRead }),
    open: (node) => openLine(node, {}, false, NO_EVENTS),
    // Not `disconnect`: that waits for the other side to end it, too.
    drop: (node) => node.stream.destroy(),
    away: () => {
      if (isCluster(client)) client.refreshSlotsCache()
    },
  }
}

/** One that would not connect again is left alone. */
function nodeOf(client: Redis | Cluster, { key, node }: PendingRun<Redis>): Redis | undefined {
  if (!isCluster(client)) return typeof client.options.retryStrategy === 'function' ? client : undefined
  if (node !== undefined) return client.nodes('master').find((each) => each === node)
  return key === '' ? undefined : nodeAt(client, ownerOf(client, key))
}

/** Also while the server has not answered what ioredis asks it first: that waits for ever. */
function isConnected({ status, stream }: Redis): boolean {
  return (status === 'ready' || status === 'connect') && stream.writable
}

/** What was sent elsewhere is not due here, nor soon what waits behind a command that waits. */
function isDue(node: Redis, { waitsMs }: PendingRun<Redis>): boolean {
  const first = firstOf(node)
  if (first === undefined) return false
  // How long ours waits is known.
  return !WAITING.test(first.name) || (waitsMs !== undefined && first.name === 'wait')
}

function firstOf({
  commandQueue,
}: Redis): { readonly name: string; readonly args: readonly unknown[] } | undefined {
  return commandQueue.peekFront()?.command
}
