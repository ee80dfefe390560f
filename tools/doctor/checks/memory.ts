import type { Check } from '../check.ts'
import { fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import type { Node } from '../node.ts'
import { bytes, count, percent } from '../words.ts'

const NO_INFO = unknown('The user may not run INFO.', 'Grant +info.')
const NO_EVICTION = 'CONFIG SET maxmemory-policy noeviction, also in the configuration file.'

export const eviction: Check = {
  id: 'eviction',
  title: 'Eviction',
  essential: true,
  examine: ({ nodes }) => overNodes(nodes, evictionOf),
}

function evictionOf(node: Node): Finding {
  const policy = node.info?.get('maxmemory_policy')
  if (policy === undefined) return NO_INFO
  const limit = node.number('maxmemory')
  const evicted = node.number('evicted_keys')
  const details = { policy, maxmemory: limit, evictedKeys: evicted }
  if (policy === 'noeviction') return ok('The server never deletes keys to make room (noeviction).', details)
  const lost = evicted > 0 ? ` It has deleted ${count(evicted, 'key')} since its start.` : ''
  const which = policy.startsWith('volatile')
    ? 'keys that expire, such as locks, permits and idempotency keys'
    : 'any key, such as jobs, locks and messages'
  if (limit > 0) {
    const why = `When memory is full, the server deletes ${which} (maxmemory-policy ${policy}). No promise of Perilune holds then.${lost}`
    return fail(why, NO_EVICTION, details)
  }
  const why = `The server has no maxmemory, so it deletes nothing yet; with one it would delete ${which} (maxmemory-policy ${policy}).`
  return warn(why, NO_EVICTION, details)
}

/** Of maxmemory, or of the memory of the machine. */
const TIGHT = 0.8
const FULL = 0.95

export const memory: Check = {
  id: 'memory',
  title: 'Memory',
  essential: true,
  examine: ({ nodes }) => overNodes(nodes, memoryOf),
}

function memoryOf(node: Node): Finding {
  if (node.info === null) return NO_INFO
  const used = node.number('used_memory')
  const limit = node.number('maxmemory')
  const machine = node.number('total_system_memory')
  const details = { used, maxmemory: limit, machine }
  if (limit > 0) return ofLimit(used, limit, details)
  if (!(machine > 0)) return ok(`The data take ${bytes(used)}, without a limit.`, details)
  const resident = Math.max(used, node.number('used_memory_rss') || 0)
  const share = `${bytes(resident)} of the ${bytes(machine)} of its machine, without a limit of its own`
  if (resident / machine < TIGHT) return ok(`The server uses ${share}.`, details)
  const why = `The server uses ${share}: the operating system may end it when memory runs out.`
  return warn(
    why,
    'Set maxmemory below the memory of the machine, and make room or move to a larger one.',
    details,
  )
}

function ofLimit(used: number, limit: number, details: Finding['details']): Finding {
  const share = `${bytes(used)} of its ${bytes(limit)} (${percent(used, limit)})`
  const mend = 'Raise maxmemory, delete what is not needed, or shorten retention and ttl.'
  if (used / limit >= FULL) {
    return fail(
      `The server uses ${share}. When it is full, it rejects new jobs, locks and messages.`,
      mend,
      details,
    )
  }
  if (used / limit >= TIGHT) return warn(`The server uses ${share}.`, mend, details)
  return ok(`The server uses ${share}.`, details)
}
