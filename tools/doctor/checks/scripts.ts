import { operationOf } from '../../../src/testing/vector-contract.ts'
import type { Check } from '../check.ts'
import { combine, fail, type Finding, ok, overNodes, unknown, warn } from '../finding.ts'
import { isReply, messageOf } from '../link.ts'
import type { Node } from '../node.ts'
import { unitAt } from '../sample-keys.ts'
import type { Server } from '../server.ts'
import { bytes, count } from '../words.ts'

/** Perilune has about two hundred. */
const MANY_SCRIPTS = 2000

export const scripts: Check = {
  id: 'scripts',
  title: 'Scripts',
  essential: true,
  examine(server) {
    const nodes = server.isCluster ? server.primaries.filter(({ slots }) => slots.length > 0) : server.served
    if (nodes.length === 0) return unknown('No primary was reached.')
    return overNodes(nodes, (node) => ofNode(server, node))
  },
}

/** Loads a script of each structure that only reads, and runs it on keys that do not exist. */
async function ofNode(server: Server, node: Node): Promise<Finding> {
  const findings = await Promise.all(
    server.options.structures.map((structure) => ofStructure(server, node, structure)),
  )
  const cached = node.number('number_of_cached_scripts')
  const memory = node.number('used_memory_scripts_eval') || node.number('used_memory_scripts')
  const details = { cachedScripts: cached, scriptMemory: memory }
  if (cached > MANY_SCRIPTS) {
    const why = `The server keeps ${count(cached, 'script')} (${bytes(memory)}), more than any version of Perilune has: some program sends a new text with each call.`
    findings.push(
      warn(why, 'Find the program that builds scripts with values in their text, then SCRIPT FLUSH.'),
    )
  }
  const names = findings.length === 1 ? 'script' : 'scripts'
  return combine([
    ok(`The server loads and runs the ${names} of Perilune.`, details),
    ...findings.filter(isNotOk),
  ])
}

function isNotOk({ state }: Finding): boolean {
  return state !== 'ok'
}

async function ofStructure(server: Server, node: Node, structure: string): Promise<Finding> {
  const { contract } = server.options
  const name =
    contract.operations[`${structure}/inspect`] === undefined ? `${structure}/get` : `${structure}/inspect`
  const { source, sha1, keys, arguments: fields } = operationOf(contract, name)
  const unit = unitAt(server, node, structure)
  try {
    const loaded = await node.link.call('SCRIPT', 'LOAD', source)
    if (loaded !== sha1)
      return fail(`The server gives ${name} another hash.`, 'Report the engine and its version.')
    const values = fields.flatMap(({ type }) =>
      type === 'integer' ? ['1'] : type === 'repeated' ? [] : ['json'],
    )
    const answer = await node.link.call(
      'EVALSHA',
      sha1,
      keys.length,
      ...keys.map(({ part }) => `${unit}:${part}`),
      ...values,
    )
    if (Array.isArray(answer)) return ok(`${name} runs.`)
    return fail(
      `The server answers ${name} with something else than a list.`,
      'Report the engine and its version.',
    )
  } catch (error) {
    if (!isReply(error)) throw error
    return refusal(name, messageOf(error))
  }
}

function refusal(name: string, message: string): Finding {
  if (/NOPERM|can't run this command|ACL failure|no permissions/i.test(message)) {
    return unknown('The user may not load or run scripts.', 'See the permissions.')
  }
  if (/^(CLUSTERDOWN|MASTERDOWN|LOADING|BUSY|MOVED)/.test(message)) {
    return unknown(`The server runs no script now: ${message}.`, 'Mend the writes first.')
  }
  return fail(
    `The server rejects the script ${name}: ${message}.`,
    'Report the engine and its version, with this message.',
  )
}
