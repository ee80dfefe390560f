import { command } from './commands.ts'
import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { type RedisCall, redisCalls, redisMember } from './redis-calls.ts'
import { argumentsOf, type Call, lineOf, literal } from './scope.ts'
import type { Script } from './script.ts'

const MEMBERS = ['call', 'pcall', 'error_reply']

/** Redis is spoken to in the open: every command is written out where it is called. */
export function checkCalls(script: Script, refuse: Refuse): void {
  checkAccess(script, refuse)
  for (const call of script.names.calls) checkName(call, script, refuse)
  const calls = redisCalls(script.names)
  checkTime(script, calls, refuse)
  checkReads(script, calls, refuse)
  for (const { command: name } of script.optional) {
    if (!calls.some((call) => call.name === name)) refuse(1, `@optional names ${name}, which is never called`)
  }
}

function checkAccess({ names }: Script, refuse: Refuse): void {
  const callees = new Set(names.calls.map(({ base }) => base))
  const bases = new Set<unknown>()
  for (const node of names.nodes) {
    const member = node.type === 'MemberExpression' ? redisMember(node, names) : null
    if (node.type !== 'MemberExpression' || member === null) continue
    bases.add(node.base)
    if (!MEMBERS.includes(member) || node.indexer !== '.') {
      refuse(lineOf(node), `redis${node.indexer}${member} may not be used: only ${MEMBERS.join(', ')}`)
    } else if (!callees.has(node)) refuse(lineOf(node), `redis.${member} may only be called, not passed on`)
  }
  for (const name of names.globalReads) {
    if (name.name === 'redis' && !bases.has(name))
      refuse(lineOf(name), 'redis may only be used as redis.call')
  }
}

function checkName(call: Call, { names }: Script, refuse: Refuse): void {
  const member = redisMember(call.base, names)
  if (member !== 'call' && member !== 'pcall') return
  const name = literal(argumentsOf(call)[0])
  if (name === null) refuse(lineOf(call), `the command of redis.${member} must be a string literal`)
  else if (name !== name.toUpperCase())
    refuse(lineOf(call), `write the command in capitals: ${name.toUpperCase()}`)
  else if (!command(name)) refuse(lineOf(call), `${name} is no command that scripts may call`)
}

function checkTime({ built }: Script, calls: readonly RedisCall[], refuse: Refuse): void {
  for (const { name, node } of calls) {
    const { file } = locate(built.lines, lineOf(node))
    if (name === 'TIME' && !file.endsWith('/shared/clock.lua')) {
      refuse(lineOf(node), 'only shared/clock reads TIME')
    }
  }
}

function checkReads({ head }: Script, calls: readonly RedisCall[], refuse: Refuse): void {
  const writes = calls.filter((call) => call.command.writes)
  if (!head.reads && writes.length === 0) refuse(1, 'the script never writes: mark it with @reads')
  for (const { name, node } of head.reads ? writes : []) {
    refuse(lineOf(node), `a script with @reads may not call ${name}`)
  }
}
