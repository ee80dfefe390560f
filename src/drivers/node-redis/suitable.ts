// Checks whether the driver can use a node-redis client.

import { can, refuse } from '../wire/given.ts'
import { IN_SUBSCRIBER_MODE } from '../wire/message.ts'
import type { ClusterClient, NodeClient, SentinelClient } from './client.ts'

/** Throws a TypeError for a value that is no node-redis client, is too old, or has unsupported options. */
export function checkSuitable(client: NodeClient | ClusterClient | SentinelClient): void {
  if (!isClient(client))
    refuse('nodeRedis() takes a client, a cluster or a sentinel client of node-redis 6.2.1 or newer', client)
  // Clients do not report their version; this command came with 6.2.
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
