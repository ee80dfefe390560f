// Checks whether the driver can use an ioredis client.

import type { Cluster, Redis } from 'ioredis'
import { can, refuse } from '../wire/given.ts'
import { isCluster } from './client.ts'
import { IN_SUBSCRIBER_MODE } from '../wire/message.ts'

/** Throws a TypeError for a value that is no ioredis client, is too old, or has unsupported options. */
export function checkSuitable(client: Redis | Cluster): void {
  // A pipeline has the methods of its client.
  const isClient =
    can(client, 'call', 'callBuffer', 'nodes') || can(client, 'call', 'callBuffer', 'duplicate')
  if (!isClient || 'isPipeline' in client)
    refuse('ioredis() takes a Redis or a Cluster of ioredis 5.11.1 or newer', client)
  if (!isNewEnough(client)) throw new TypeError('this client is older than ioredis 5.11.1')
  if (!isCluster(client) && client.mode !== 'normal') throw new TypeError(IN_SUBSCRIBER_MODE)
  refuseOptions(client)
}

/** Clients do not report their version; this checks for what 5.11 and 5.11.1 added. */
function isNewEnough(client: Redis | Cluster): boolean {
  return isCluster(client)
    ? 'clusterNodeRetryStrategy' in client.options
    : can(client, '_buildCommandContext')
}

function refuseOptions(client: Redis | Cluster): void {
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
