// How a connection of ioredis that has fallen silent is known, and ended.

import type { Cluster, Redis } from 'ioredis'
import { isCluster, nodeAt, ownerOf, writesAtOnce } from './ioredis-client.ts'
import { openLine } from './ioredis-line.ts'
import { type Listening, NO_EVENTS } from './silence.ts'

/** Two seconds with the round in which it is looked at again. */
const PATIENCE = 3

/** Commands of the user that wait at the server, and keep those behind them waiting. */
const WAITING =
  /^(?:bl(?:move|mpop|pop)|br(?:pop|poplpush)|bz(?:mpop|popmax|popmin)|xread|xreadgroup|wait|waitaof)$/i

export function listenTo(client: Redis | Cluster): Listening<Redis> {
  return {
    patience: () => PATIENCE,
    over: ({ key, written }) => {
      const node = written ? nodeOf(client, key) : undefined
      return node !== undefined && writesAtOnce(node) && isDue(node) ? node : undefined
    },
    read: (node) => node.stream.bytesRead,
    open: (node) => openLine(node, {}, false, NO_EVENTS),
    // Not `disconnect`: that waits for the other side to end it, too.
    drop: (node) => node.stream.destroy(),
    away: () => {
      if (isCluster(client)) client.refreshSlotsCache()
    },
  }
}

/** One that would not connect again is left alone. */
function nodeOf(client: Redis | Cluster, key: string): Redis | undefined {
  if (isCluster(client)) return key === '' ? undefined : nodeAt(client, ownerOf(client, key))
  return typeof client.options.retryStrategy === 'function' ? client : undefined
}

/** What was sent elsewhere is not due here, nor soon what waits behind a command that waits. */
function isDue({ commandQueue }: Redis): boolean {
  const first = commandQueue.peekFront()
  return first !== undefined && !WAITING.test(first.command.name)
}
