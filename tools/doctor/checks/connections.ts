import type { Check } from '../check.ts'
import { combine, fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import type { Node } from '../node.ts'
import { count, percent, span } from '../words.ts'

const TIGHT = 0.8
const FULL = 0.95

export const connections: Check = {
  id: 'connections',
  title: 'Connections',
  essential: false,
  examine: ({ nodes }) => overNodes(nodes, ofNode),
}

async function ofNode(node: Node): Promise<Finding> {
  if (node.info === null) return unknown('The user may not run INFO.', 'Grant +info.')
  const connected = node.number('connected_clients')
  // INFO has it since Redis 7.0.
  const most = node.number('maxclients') || Number((await node.config('maxclients')) ?? Number.NaN)
  const timeout = await node.config('timeout')
  const rejected = node.number('rejected_connections')
  const details = {
    connected,
    maxclients: most,
    timeoutSeconds: timeout === null ? null : Number(timeout),
    rejected,
  }
  return combine([ofShare(connected, most), ...ofTimeout(Number(timeout)), ...ofLosses(node)], details)
}

function ofShare(connected: number, most: number): Finding {
  if (!(most > 0)) return ok('The server has room for clients.')
  const share = connected / most
  const why = `The server has ${count(connected, 'client')}, ${percent(connected, most)} of maxclients (${most}).`
  const mend = 'Share one client in each process, close unused ones, or raise maxclients.'
  if (share >= FULL) return fail(`${why} It rejects new ones when all are taken.`, mend)
  return share >= TIGHT ? warn(why, mend) : ok('The server has room for clients.')
}

function ofTimeout(seconds: number): Finding[] {
  if (!(seconds > 0)) return []
  const why = `The server closes connections that are idle for ${span(seconds * 1000)} (timeout ${seconds}): the next call waits for a new one.`
  return [warn(why, 'CONFIG SET timeout 0; tcp-keepalive finds dead connections.')]
}

function ofLosses(node: Node): Finding[] {
  const findings: Finding[] = []
  const rejected = node.number('rejected_connections')
  if (rejected > 0) {
    const why = `The server has rejected ${count(rejected, 'connection')} since its start, because maxclients was reached.`
    findings.push(warn(why, 'Share one client in each process, close unused ones, or raise maxclients.'))
  }
  const cut = node.number('client_output_buffer_limit_disconnections')
  if (cut > 0) {
    const why = `The server has cut off ${count(cut, 'client')} that did not read their answers or messages in time.`
    findings.push(
      warn(
        why,
        'Look for programs whose event loop stands still; raise client-output-buffer-limit for pubsub.',
      ),
    )
  }
  return findings
}
