// A message through each node: waiters of Perilune sleep until such a message wakes them.

import { randomBytes } from 'node:crypto'
import type { Check } from '../check.ts'
import { fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import { inTime, SilentError } from '../in-time.ts'
import { isReply, type Link, messageOf } from '../link.ts'
import type { Node } from '../node.ts'
import { unitAt } from '../sample-keys.ts'
import type { Server } from '../server.ts'
import { isBefore } from '../versions.ts'
import { span } from '../words.ts'

/** A message that takes longer is lost. */
const LOST_MS = 2000
const SLOW_MS = 100

export const pubsub: Check = {
  id: 'pubsub',
  title: 'Messages',
  essential: true,
  patience: 2,
  examine(server) {
    const publishing = server.options.structures.find((structure) => publishes(server, structure))
    if (publishing === undefined) return ok('The chosen structures send no messages.')
    const nodes = server.isCluster ? nodesToTry(server) : server.served
    if (nodes.length === 0) return unknown('No primary was reached.')
    return overNodes(nodes, (node) => roundTrip(server, node, publishing))
  },
}

function publishes(server: Server, structure: string): boolean {
  return server.options.contract.structures[structure]?.commands.includes('publish') === true
}

/** Sharded channels are of one primary; plain ones must reach every node. */
function nodesToTry(server: Server): readonly Node[] {
  return hasShardedChannels(server) ? server.primaries.filter(({ slots }) => slots.length > 0) : server.nodes
}

export function hasShardedChannels(server: Server): boolean {
  return (
    server.isCluster &&
    server.nodes.every(({ info }) => !isBefore(info?.get('redis_version') ?? '0', '7.0.0'))
  )
}

async function roundTrip(server: Server, node: Node, structure: string): Promise<Finding> {
  const sharded = hasShardedChannels(server)
  const channel = `${unitAt(server, node, structure)}:doctor-${randomBytes(6).toString('hex')}`
  // A plain message goes out at one node of the cluster and must arrive at each.
  const sender = sharded ? node : (server.served[0] ?? node)
  let link: Link | null = null
  try {
    link = await server.open(node)
    const tookMs = await timed(link, sender, channel, sharded)
    const details = { roundTripMs: Math.round(tookMs * 10) / 10, sharded }
    if (tookMs < SLOW_MS) return ok('A message came back at once.', details)
    return warn(`A message took ${span(tookMs)}.`, 'See the latency.', details)
  } catch (error) {
    return failure(error, server, structure)
  } finally {
    link?.close()
  }
}

async function timed(link: Link, sender: Node, channel: string, sharded: boolean): Promise<number> {
  let onMessage = (): void => {}
  const heard = new Promise<void>((resolve) => (onMessage = resolve))
  await link.listen(channel, sharded, () => onMessage())
  const sent = performance.now()
  await sender.link.call(sharded ? 'SPUBLISH' : 'PUBLISH', channel, 'doctor')
  await inTime(heard, LOST_MS)
  return performance.now() - sent
}

function failure(error: unknown, server: Server, structure: string): Finding {
  if (error instanceof SilentError) {
    return fail(
      'A message did not come back: waiters are not woken, and find what is free only by polling.',
      'Check whether a proxy stands between, and whether it passes on SUBSCRIBE and PUBLISH.',
    )
  }
  if (!isReply(error)) throw error
  const message = messageOf(error)
  if (message.startsWith('NOPERM')) {
    const why = 'The user may not use the channels of Perilune: waiting falls back to polling.'
    return warn(
      why,
      `Grant &${server.options.namespace}:{${structure}:*, +subscribe and +publish; see the permissions.`,
    )
  }
  return fail(`The server rejects a subscription: ${message}.`, 'Use a server or a proxy that has SUBSCRIBE.')
}
