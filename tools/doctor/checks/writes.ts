import { showAddress } from '../address.ts'
import type { Check } from '../check.ts'
import { fail, type Finding, ok, overNodes, unknown } from '../finding.ts'
import { isReply, messageOf } from '../link.ts'
import type { Node } from '../node.ts'
import { unitAt } from '../sample-keys.ts'
import type { Server } from '../server.ts'

export const writes: Check = {
  id: 'writes',
  title: 'Writes',
  essential: true,
  examine(server) {
    const nodes = server.isCluster ? server.primaries.filter(({ slots }) => slots.length > 0) : server.served
    if (nodes.length === 0) return unknown('No primary was reached.')
    return overNodes(nodes, (node) => ofNode(server, node))
  },
}

/** A write that changes nothing: it deletes a field of a key that does not exist. */
async function ofNode(server: Server, node: Node): Promise<Finding> {
  try {
    const unit = unitAt(server, node, server.options.structures[0] ?? 'lock')
    await node.link.call('HDEL', `${unit}:never`, 'never')
    return ok('The server accepts writes.')
  } catch (error) {
    if (!isReply(error)) throw error
    return refusal(messageOf(error), node, server)
  }
}

function refusal(message: string, node: Node, server: Server): Finding {
  const word = message.split(' ', 1)[0] ?? ''
  const details = { refusedWith: word }
  switch (word) {
    case 'READONLY':
      return fail('This is a replica, and it rejects every write.', mendOfReplica(node, server), details)
    case 'NOREPLICAS':
      return fail(
        'The server rejects writes, because it has fewer replicas than min-replicas-to-write demands.',
        'Start or reconnect its replicas.',
        details,
      )
    case 'MISCONF':
      return fail(
        'The server rejects writes, because it cannot save its data.',
        'Read its log; make room on its disk, or correct the rights of its folder.',
        details,
      )
    case 'CLUSTERDOWN':
      return fail('The cluster is down and rejects calls.', 'Mend the topology first.', details)
    case 'LOADING':
      return fail('The server is loading its data.', 'Wait until it has loaded.', details)
    case 'BUSY':
      return fail(
        'A script has been running for long, and the server answers nothing else.',
        'SCRIPT KILL, and look for the script.',
        details,
      )
    case 'MASTERDOWN':
      return fail('This is a replica that has lost its primary.', mendOfReplica(node, server), details)
    case 'NOPERM':
      return unknown('The user may not run HDEL, so this was not tried.', 'See the permissions.', details)
    default:
      return fail(
        `The server rejects a write: ${message}.`,
        'Read the message and the log of the server.',
        details,
      )
  }
}

function mendOfReplica(node: Node, server: Server): string {
  const [host, port] = [node.info?.get('master_host'), node.info?.get('master_port')]
  if (host === undefined) return 'Use the address of its primary.'
  const address = { ...server.options.address, places: [{ host, port: Number(port) }] }
  return `Use the address of its primary, ${showAddress(address)}, or Sentinel (redis+sentinel://…/NAME), which follows failovers.`
}
