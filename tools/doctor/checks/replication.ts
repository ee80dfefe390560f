import type { Check } from '../check.ts'
import { replicaLines } from '../discovery.ts'
import { combine, fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import type { Node } from '../node.ts'
import type { Server } from '../server.ts'
import { bytes, count, span } from '../words.ts'

const LATE_SECONDS = 10
const BEHIND_BYTES = 1024 ** 2

const BOUND =
  'CONFIG SET min-replicas-to-write 1 and CONFIG SET min-replicas-max-lag 2, also in the configuration file.'

export const replication: Check = {
  id: 'replication',
  title: 'Replication',
  essential: true,
  async examine(server) {
    const primaries = server.primaries.filter(({ slots }) => !server.isCluster || slots.length > 0)
    const findings = await Promise.all([
      ...(primaries.length > 0 ? [overNodes(primaries, (node) => ofPrimary(server, node))] : []),
      ...(server.replicas.length > 0 ? [overNodes(server.replicas, ofReplica)] : []),
    ])
    const details = { nodes: Object.assign({}, ...findings.map((each) => Object(each.details)['nodes'])) }
    return { ...combine(findings), details }
  },
}

function ofPrimary(server: Server, node: Node): Finding {
  if (node.info === null) return unknown('The user may not run INFO.', 'Grant +info.')
  const lines = replicaLines(node.info)
  const good = node.info.get('min_slaves_good_slaves')
  const details = { replicas: lines.length, goodReplicas: good === undefined ? null : Number(good) }
  if (lines.length === 0) return alone(server, good, details)
  const offset = node.number('master_repl_offset')
  const findings = lines.map((fields) => ofLine(fields, offset))
  if (good === undefined) {
    const why =
      'A primary that is cut off goes on acknowledging writes that a failover loses: min-replicas-to-write is not set.'
    findings.push(warn(why, BOUND))
  } else if (good === '0')
    findings.push(fail('No replica is good enough for min-replicas-to-write.', 'Reconnect the replicas.'))
  const healthy = `${count(lines.length, 'replica')} ${lines.length === 1 ? 'follows' : 'follow'} closely.`
  const combined = combine(findings, details)
  return combined.state === 'ok' ? ok(healthy, details) : combined
}

function alone(server: Server, good: string | undefined, details: Finding['details']): Finding {
  if (good === '0') {
    const why = 'The server has no replica, and min-replicas-to-write demands one: it rejects writes.'
    return fail(why, 'Start a replica, or CONFIG SET min-replicas-to-write 0.', details)
  }
  if (server.found.topology === 'single') {
    return ok('The server has no replica. Nothing takes over when it is down.', details)
  }
  const why = 'This primary has no replica: what it serves is away while it is down.'
  return warn(why, 'Give each primary a replica.', details)
}

function ofLine(fields: ReadonlyMap<string, string>, offset: number): Finding {
  const name = `${fields.get('ip')}:${fields.get('port')}`
  const lag = Number(fields.get('lag'))
  const behind = offset - Number(fields.get('offset'))
  const details = { [name]: { state: fields.get('state'), lagSeconds: lag, behindBytes: behind } }
  const mend = 'Check the network and the load of the replica.'
  if (fields.get('state') !== 'online') {
    return warn(
      `The replica ${name} is still loading (${fields.get('state')}).`,
      'Wait until it is online.',
      details,
    )
  }
  if (lag > LATE_SECONDS) {
    return warn(`The replica ${name} was last heard ${span(lag * 1000)} ago.`, mend, details)
  }
  if (behind > BEHIND_BYTES) return warn(`The replica ${name} is ${bytes(behind)} behind.`, mend, details)
  return ok(`The replica ${name} is ${bytes(Math.max(0, behind))} behind.`, details)
}

function ofReplica(node: Node): Finding {
  if (node.info === null) return unknown('The user may not run INFO.', 'Grant +info.')
  const findings = [ok('The replica is connected to its primary.')]
  if (node.info.get('master_link_status') === 'down') {
    const seconds = node.number('master_link_down_since_seconds')
    const since = seconds > 0 ? ` for ${span(seconds * 1000)}` : ''
    findings.push(
      warn(
        `The replica has had no connection to its primary${since}.`,
        'Check the primary, the network, and masterauth.',
      ),
    )
  }
  if (node.info.get('slave_read_only') === '0') {
    findings.push(
      warn('The replica accepts writes, which its primary never sees.', 'CONFIG SET replica-read-only yes.'),
    )
  }
  return combine(findings)
}
