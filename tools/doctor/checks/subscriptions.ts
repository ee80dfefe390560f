import type { Check } from '../check.ts'
import { fail, type Finding, listed, ok, overNodes, unknown } from '../finding.ts'
import { isReply } from '../link.ts'
import type { Node } from '../node.ts'
import type { Server } from '../server.ts'
import { count } from '../words.ts'
import { hasShardedChannels } from './pubsub.ts'

export const subscriptions: Check = {
  id: 'subscriptions',
  title: 'Subscriptions',
  essential: false,
  async examine(server) {
    if (server.replicas.length === 0) return ofPrimaries(server)
    const found = await overNodes(server.replicas, (node) => ofReplica(server, node))
    if (found.state !== 'ok') return found
    const primaries = await ofPrimaries(server)
    return { ...primaries, details: { ...primaries.details, ...found.details } }
  },
}

async function ofPrimaries(server: Server): Promise<Finding> {
  const channels = await Promise.all(server.primaries.map((node) => channelsAt(server, node)))
  if (channels.includes(null))
    return unknown('The user may not run PUBSUB CHANNELS.', 'Run the doctor as a user with +pubsub.')
  const names = channels.flatMap((each) => each ?? [])
  if (names.length === 0) return ok('No process waits for a message of Perilune now.', { channels: 0 })
  return ok(`Processes wait on ${count(names.length, 'channel')}, all at primaries.`, {
    channels: names.length,
  })
}

async function ofReplica(server: Server, node: Node): Promise<Finding> {
  const channels = await channelsAt(server, node)
  if (channels === null)
    return unknown('The user may not run PUBSUB CHANNELS.', 'Run the doctor as a user with +pubsub.')
  if (channels.length === 0) return ok('No subscription of Perilune sits on the replica.')
  const shown = listed(channels, 2)
  const why = `Subscriptions of ${count(channels.length, 'channel')} sit on this replica (${shown}). Scripts at the primary do not see them, so these processes are not woken, and find what is free only by polling.`
  const mend =
    'Give those programs the address of the primary, or Sentinel or cluster clients; restart what was connected before a failover.'
  return fail(why, mend, { channels, clients: await listenersAt(node) })
}

/** Null where the user may not ask. */
async function channelsAt(server: Server, { link }: Node): Promise<string[] | null> {
  const pattern = `${server.options.namespace}:{*`
  // On a cluster with sharded channels, plain ones reach every node.
  const command = hasShardedChannels(server) ? 'SHARDCHANNELS' : 'CHANNELS'
  try {
    const names = (await link.call('PUBSUB', command, pattern)) as readonly unknown[]
    return names.map(String).filter((name) => !/:doctor(-\d+)?\}:doctor-/.test(name))
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}

/** `10.0.0.7:51234 worker`, for those that listen; empty where the user may not ask. */
async function listenersAt({ link }: Node): Promise<string[]> {
  try {
    const text = String(await link.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
    return text
      .split('\n')
      .flatMap((line) => /\baddr=(\S+)/.exec(line)?.[1] ?? [])
      .slice(0, 20)
  } catch (error) {
    if (isReply(error)) return []
    throw error
  }
}
