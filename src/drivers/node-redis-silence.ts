// How a connection of node-redis that has fallen silent is known, and ended.

import { connectsAgain, type NodeClient, replace } from './node-redis-client.ts'
import type { Connections } from './node-redis-connections.ts'
import { openLine } from './node-redis-line.ts'
import { type Listening, NO_EVENTS } from './silence.ts'
import { inTime } from './time-limit.ts'

/** node-redis does not tell whether something was read: a part of a long answer is as good as none. */
const PATIENCE = 9
const PATIENCE_WHERE_LARGE = 60

export function listenTo(connections: Connections): Listening<NodeClient> {
  return {
    patience: ({ isLarge }) => (isLarge ? PATIENCE_WHERE_LARGE : PATIENCE),
    over: async ({ key }) => {
      if (connections.cluster && key === '') return undefined
      const node = await inTime(connections.nodeOf(key), 'the node')
      return node.isReady && connectsAgain(node) ? node : undefined
    },
    read: () => 0,
    open: (node) => openLine(node, {}, false, NO_EVENTS),
    drop: replace,
    away: (node) => connections.lookPast(node),
  }
}
