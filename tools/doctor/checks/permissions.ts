import type { Check } from '../check.ts'
import { fail, type Finding, listed, ok, overNodes, unknown, warn } from '../finding.ts'
import { isReply, messageOf } from '../link.ts'
import { type Judgement, judge, whoAmI } from '../judge.ts'
import type { Node } from '../node.ts'
import { type Needs, needsOf } from '../rights.ts'
import type { Server } from '../server.ts'

export const permissions: Check = {
  id: 'permissions',
  title: 'Permissions',
  essential: true,
  async examine(server) {
    const needs = needsOf(server)
    return overNodes(server.nodes, (node) => ofNode(server, node, needs))
  },
}

async function ofNode(server: Server, node: Node, needs: readonly Needs[]): Promise<Finding> {
  const user = (await whoAmI(node.link)) ?? server.options.address.username ?? 'default'
  // The two last of each structure tell a missing pattern of keys from missing commands.
  const examples = needs.flatMap(({ rights, keys }) => [
    ...rights.map(({ example }) => example),
    ['eval', 'return 1', '0'],
    ['eval', 'return 1', '1', keys.replace('*', 'doctor}:key')],
  ])
  try {
    const judgement = await judge(node.link, user, examples)
    return judgement.way === null ? ofSilence(server, user, judgement) : ofVerdicts(user, needs, judgement)
  } catch (error) {
    if (!isReply(error)) throw error
    return unknown(`The server does not say what the user ${user} may do: ${messageOf(error)}.`)
  }
}

function ofSilence(server: Server, user: string, { scriptsRefused }: Judgement): Finding {
  const { structures, contract, namespace } = server.options
  const rules = structures.map((structure) => contract.structures[structure]?.acl ?? '')
  const words = [...new Set(rules.flatMap((rule) => rule.split(' ').filter((word) => /^[~&+]/.test(word))))]
  const rule = `ACL SETUSER ${user} ${words.join(' ').replaceAll('<namespace>', namespace)}`
  if (scriptsRefused) {
    const why = `The user ${user} may not run EVAL, which every structure needs. The doctor could not try the other commands.`
    return fail(why, rule, { user, rule })
  }
  const why = `The server does not say what the user ${user} may do.`
  return unknown(why, `Compare its rules (ACL GETUSER ${user}) with docs/compatibility.md.`, { user, rule })
}

interface Missing {
  readonly structure: string
  readonly rules: readonly string[]
  readonly vital: boolean
}

function ofVerdicts(user: string, needs: readonly Needs[], { verdicts, way }: Judgement): Finding {
  let at = 0
  const missing = needs.flatMap((need) => {
    const own = verdicts.slice(at, (at += need.rights.length + 2))
    return missingOf(need, own)
  })
  const details = { user, way, missing: missing.map(({ structure, rules }) => ({ structure, rules })) }
  const names = needs.map(({ structure }) => structure)
  if (missing.length === 0) {
    return ok(
      `The user ${user} has every right that ${listed(names, 12)} need${names.length === 1 ? 's' : ''}.`,
      details,
    )
  }
  const rules = [...new Set(missing.flatMap((each) => each.rules))].toSorted(byKind)
  const rule = `ACL SETUSER ${user} ${rules.join(' ')}`
  const vital = missing.filter((each) => each.vital)
  if (vital.length > 0) {
    const structures = listed([...new Set(vital.map(({ structure }) => structure))], 12)
    const why = `The user ${user} lacks rights, without which calls of ${structures} fail: ${listed(rules, 8)}.`
    return fail(why, rule, { ...details, rule })
  }
  const why = `The user ${user} lacks ${listed(rules, 8)}. All calls work, but waiting may fall back to polling.`
  return warn(why, rule, { ...details, rule })
}

function missingOf({ structure, keys, rights }: Needs, verdicts: readonly string[]): Missing[] {
  const [anyEval, ownEval] = verdicts.slice(-2)
  const missing: Missing[] = []
  const keysRefused = anyEval === 'may' && ownEval === 'may not'
  if (keysRefused) missing.push({ structure, rules: [`~${keys}`], vital: true })
  const refused = rights.filter((_, index) => verdicts[index] === 'may not')
  const channels = refused.filter(({ command }) => /^s?(subscribe|publish)$/.test(command))
  if (channels.length > 0) {
    const rules = [`&${keys}`, ...channels.map(({ command }) => `+${command}`)]
    missing.push({ structure, rules, vital: false })
  }
  for (const { command, vital, example } of refused) {
    // With the keys refused, nothing is known of the command itself.
    const ofKeys = example.some((word) => word.startsWith(keys.slice(0, -1)))
    if ((ofKeys && keysRefused) || channels.some((each) => each.command === command)) continue
    missing.push({ structure, rules: [`+${command}`], vital })
  }
  return missing
}

/** Keys, channels, commands. */
function byKind(a: string, b: string): number {
  return '~&+'.indexOf(a[0] ?? '') - '~&+'.indexOf(b[0] ?? '') || a.localeCompare(b)
}
