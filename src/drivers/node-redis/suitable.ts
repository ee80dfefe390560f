// Which clients of node-redis the driver speaks through.

import { can, refuse } from '../wire/given.ts'
import { IN_SUBSCRIBER_MODE } from '../wire/message.ts'
import type { ClusterClient, NodeClient, SentinelClient } from './client.ts'

/** Throws a TypeError for what is no client of node-redis, of a version that is too old, or set up so that it would go wrong. */
export function checkSuitable(client: NodeClient | ClusterClient | SentinelClient): void {
  if (!isClient(client))
    refuse('nodeRedis() takes a client, a cluster or a sentinel client of node-redis 6.2.1 or newer', client)
  // No client tells its version. This command came with 6.2.
  if (!can(client, 'hImportSet')) throw new TypeError('this client is older than node-redis 6.2.1')
  if ('options' in client && client.options?.RESP === 2 && client.isPubSubActive)
    throw new TypeError(IN_SUBSCRIBER_MODE)
  if ('_keyPrefix' in client && client._keyPrefix) {
    throw new TypeError(
      'this node-redis client has a keyPrefix, which the keys would not get: set a namespace instead',
    )
  }
}

function isClient(client: object): boolean {
  const isPool = can(client, 'sendCommand') && 'totalClients' in client
  const isOne = can(client, 'sendCommand', 'duplicate') && !can(client, 'callBuffer')
  return !isPool && (isOne || can(client, 'nodeClient') || can(client, 'getSentinelNode'))
}
