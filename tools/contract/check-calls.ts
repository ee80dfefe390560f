import { command, COMMAND_NAMES } from './commands.ts'
import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { orNearest } from './nearest.ts'
import { type RedisCall, redisCalls, redisMember } from './redis-calls.ts'
import { argumentsOf, type Call, lineOf, literal, type Names } from './scope.ts'
import type { Script } from './script.ts'

const USE = "write redis.call('GET', …), redis.pcall or redis.error_reply"
const OTHERS: readonly { readonly names: string; readonly mend: string }[] = [
  { names: 'status_reply', mend: "write return { 'word', … }" },
  { names: 'log', mend: 'a script writes nothing out, so put the value into the answer' },
  { names: 'replicate_commands set_repl breakpoint debug', mend: 'remove it' },
]
const MEMBERS: ReadonlySet<string> = new Set(['call', 'pcall', 'error_reply'])

/** Redis is spoken to in the open: every command is written out where it is called. */
export function checkCalls(script: Script, refuse: Refuse): void {
  checkAccess(script, refuse)
  for (const call of script.names.calls) checkName(call, script, refuse)
  const calls = redisCalls(script.names)
  checkTime(script, calls, refuse)
  checkReads(script, calls, refuse)
  for (const { command: name } of script.optional) {
    if (!calls.some((call) => call.name === name))
      refuse(1, `@optional names ${name}, which is never called: remove the line`)
  }
}

function checkAccess({ names }: Script, refuse: Refuse): void {
  const callees = new Set(names.calls.map(({ base }) => base))
  const bases = new Set<unknown>()
  for (const node of names.nodes) {
    const member = node.type === 'MemberExpression' ? redisMember(node, names) : null
    if (node.type !== 'MemberExpression' || member === null) continue
    bases.add(node.base)
    if (!MEMBERS.has(member) || node.indexer !== '.') {
      refuse(
        lineOf(node),
        `redis${node.indexer}${member} may not be used: ${OTHERS.find((each) => each.names.split(' ').includes(member))?.mend ?? USE}`,
      )
    } else if (!callees.has(node))
      refuse(lineOf(node), `redis.${member} may not be passed on: call it here, redis.${member}('GET', …)`)
  }
  for (const name of names.globalReads) {
    if (name.name === 'redis' && !bases.has(name))
      refuse(lineOf(name), `redis may not be passed on or indexed: ${USE}`)
  }
}

function checkName(call: Call, { names }: Script, refuse: Refuse): void {
  const member = redisMember(call.base, names)
  if (member !== 'call' && member !== 'pcall') return
  const name = literal(argumentsOf(call)[0])
  if (name === null)
    refuse(lineOf(call), `the command is not written out: write it as a text, redis.${member}('GET', …)`)
  else if (/\s/.test(name))
    refuse(
      lineOf(call),
      `the command has its arguments in one text: write each by itself, redis.${member}('GET', keys.name)`,
    )
  else if (name !== name.toUpperCase())
    refuse(lineOf(call), `the command is not in capitals: write ${name.toUpperCase()}`)
  else if (!command(name)) refuse(lineOf(call), `a script may not call ${name}: ${insteadOf(name)}`)
}

/** What is no command of scripts, and what to do instead. */
const OTHER_COMMANDS: readonly { readonly names: string; readonly mend: string }[] = [
  {
    names: 'KEYS SCAN RANDOMKEY DBSIZE FLUSHALL FLUSHDB',
    mend: 'it reaches keys that keys.lua does not list; write the keys that it is about',
  },
  { names: 'MULTI EXEC WATCH DISCARD UNWATCH', mend: 'remove it, for the whole script is one step' },
  { names: 'EVAL EVALSHA FCALL SCRIPT', mend: 'call a function of a module below shared' },
  {
    names: 'BLPOP BRPOP BLMOVE BLMPOP BZPOPMIN BZPOPMAX BZMPOP WAIT',
    mend: 'a script cannot wait; write LPOP or a similar command',
  },
]

function insteadOf(name: string): string {
  const other = OTHER_COMMANDS.find((each) => each.names.split(' ').includes(name))
  return (
    other?.mend ??
    orNearest(name, COMMAND_NAMES, 'write a command of Redis that reads or changes listed keys')
  )
}

/** Whether nothing else is called, which could write. */
function areKnown(names: Names): boolean {
  const called = names.calls.filter(({ base }) => ['call', 'pcall'].includes(redisMember(base, names) ?? ''))
  return called.length === redisCalls(names).length
}

function checkTime({ built }: Script, calls: readonly RedisCall[], refuse: Refuse): void {
  for (const { name, node } of calls) {
    const { file } = locate(built.lines, lineOf(node))
    if (name === 'TIME' && !file.endsWith('/shared/clock.lua')) {
      refuse(
        lineOf(node),
        'a script may not call TIME: clock_us() gives the time of the server in microseconds',
      )
    }
  }
}

function checkReads({ head, names }: Script, calls: readonly RedisCall[], refuse: Refuse): void {
  const writes = calls.filter((call) => call.command.writes)
  if (!head.reads && writes.length === 0 && areKnown(names))
    refuse(1, 'the script never writes: write @reads in its head')
  for (const { name, node } of head.reads ? writes : []) {
    refuse(lineOf(node), `${name} writes, and the head has @reads: remove @reads, or the call`)
  }
}
