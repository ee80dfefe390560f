import type { Check } from '../check.ts'
import { combine, fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import type { Node } from '../node.ts'
import type { Server } from '../server.ts'
import { span } from '../words.ts'

/** What these lose is computed or counted again. */
const REPLACEABLE = new Set(['autocomplete', 'cache', 'collection', 'rate-limit'])

const APPEND =
  'CONFIG SET appendonly yes (class B), and CONFIG SET appendfsync always (class A) where nothing may be lost; also in the configuration file.'

export const persistence: Check = {
  id: 'persistence',
  title: 'After a crash',
  essential: true,
  async examine(server) {
    const found = await overNodes(server.served, (node) => ofNode(server, node))
    if (server.replicas.length === 0) return found
    const name = server.isCluster ? 'class D' : 'class C'
    const failover = `A failover loses what was acknowledged and not yet replicated (${name}).`
    return { ...found, why: `${failover} ${found.why}` }
  },
}

async function ofNode(server: Server, node: Node): Promise<Finding> {
  if (node.info === null) return unknown('The user may not run INFO.', 'Grant +info.')
  const faults = faultsOf(node)
  const main = node.number('aof_enabled') === 1 ? await ofAppendOnly(node) : await ofSnapshots(server, node)
  return combine([main, ...faults], main.details)
}

function faultsOf(node: Node): Finding[] {
  const mend = 'Read the log of the server; make room on its disk, or correct the rights of its folder.'
  const findings: Finding[] = []
  if (node.info?.get('aof_last_write_status') === 'err') {
    findings.push(fail('The last write to the append-only file failed.', mend))
  }
  if (node.info?.get('aof_last_bgrewrite_status') === 'err') {
    findings.push(warn('The last rewrite of the append-only file failed, so the file grows.', mend))
  }
  if (node.info?.get('rdb_last_bgsave_status') === 'err')
    findings.push(warn('The last snapshot failed.', mend))
  return findings
}

async function ofAppendOnly(node: Node): Promise<Finding> {
  const fsync = await node.config('appendfsync')
  const details = { appendonly: true, appendfsync: fsync }
  switch (fsync) {
    case 'always':
      return ok('A crash loses nothing that was acknowledged (appendfsync always, class A).', details)
    case 'everysec':
      return ok(
        'A power loss takes the last second, or two when the disk is slow (appendfsync everysec, class B).',
        details,
      )
    case 'no':
      return warn(
        'The operating system decides when the append-only file is on the disk (appendfsync no): a power loss may take half a minute.',
        'CONFIG SET appendfsync everysec, also in the configuration file.',
        details,
      )
    default:
      return ok(
        'The server has an append-only file and refuses CONFIG: a crash loses at most the last two seconds if appendfsync is everysec, nothing if it is always.',
        details,
      )
  }
}

async function ofSnapshots(server: Server, node: Node): Promise<Finding> {
  const save = await node.config('save')
  const saved = node.number('rdb_last_save_time')
  const started = Date.now() / 1000 - node.number('uptime_in_seconds')
  const age = saved > started + 5 ? ` (the last one is ${span(Date.now() - saved * 1000)} old)` : ''
  const details = { appendonly: false, save }
  const replaceable = server.options.structures.every((structure) => REPLACEABLE.has(structure))
  if (save === '') {
    const why = 'The server keeps nothing on a disk: a restart loses everything, jobs and locks included.'
    return replaceable
      ? warn(why.replace(', jobs and locks included', ''), APPEND, details)
      : fail(why, APPEND, details)
  }
  const why =
    save === null
      ? `The server has no append-only file: a restart loses everything since its last snapshot${age}, or everything if it makes none. It refuses CONFIG, so the rule for snapshots is not known.`
      : `The server has no append-only file: a restart loses everything since its last snapshot${age}.`
  return warn(why, APPEND, details)
}
