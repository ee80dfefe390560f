import type { Check } from '../check.ts'
import { type Finding, listed, ok, overNodes, unknown, warn } from '../finding.ts'
import { isReply } from '../link.ts'
import type { Node } from '../node.ts'
import type { Server } from '../server.ts'
import { count, span } from '../words.ts'

const ENTRIES = 128
/** See docs/operations.md, Memory and eviction. */
const SLOW_MS = 10

interface Entry {
  readonly operation: string
  readonly ms: number
}

export const slowLog: Check = {
  id: 'slow-log',
  title: 'Slow calls',
  essential: false,
  examine: (server) => overNodes(server.nodes, (node) => ofNode(server, node)),
}

async function ofNode(server: Server, node: Node): Promise<Finding> {
  const entries = await entriesOf(server, node)
  if (entries === null)
    return unknown('The user may not run SLOWLOG.', 'Run the doctor as a user with +slowlog.')
  const slow = entries.filter(({ ms }) => ms > SLOW_MS)
  if (slow.length === 0) return ok(`The slow log has no call of Perilune above ${SLOW_MS} ms.`)
  const longest = Math.max(...slow.map(({ ms }) => ms))
  const operations = [...new Set(slow.map(({ operation }) => operation))]
  const why = `The slow log has ${count(slow.length, 'call')} of Perilune above ${SLOW_MS} ms, the longest ${span(longest)}: ${listed(operations)}.`
  const mend = 'Claim or read fewer at once, and keep bodies small. SLOWLOG RESET forgets the old entries.'
  return warn(why, mend, { longestMs: longest, operations })
}

async function entriesOf(server: Server, { link }: Node): Promise<Entry[] | null> {
  try {
    const entries = (await link.call('SLOWLOG', 'GET', ENTRIES)) as readonly (readonly unknown[])[]
    return entries.flatMap(([, , micros, args]) => {
      const operation = operationOf(server, (args as readonly unknown[]).map(String))
      return operation === null ? [] : { operation, ms: Number(micros) / 1000 }
    })
  } catch (error) {
    if (isReply(error)) return null
    throw error
  }
}

/** `queue/claim`; null for what is not of Perilune. */
function operationOf(
  server: Server,
  [command = '', script = '', , firstKey = '']: readonly string[],
): string | null {
  if (!/^eval(sha)?(_ro)?$/i.test(command)) return null
  const { contract, namespace } = server.options
  const known = Object.entries(contract.operations).find(([, { sha1 }]) => sha1 === script)
  if (known !== undefined) return known[0]
  return firstKey.startsWith(`${namespace}:{`) ? 'a script of another version' : null
}
