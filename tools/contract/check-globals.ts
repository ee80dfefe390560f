import type { Identifier } from 'luaparse'
import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { orNearest } from './nearest.ts'
import { OFFERED, OF_LUA } from './offered.ts'
import { TRY_FORM } from './refusals.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** A script reads what Redis offers and stays harmless, and what modules define, and sets no global at all. */
export function checkGlobals(script: Script, refuse: Refuse): void {
  const { names, declarations, file } = script
  for (const name of names.globalReads) {
    const message = messageOf(name, script)
    if (message !== null) refuse(lineOf(name), message)
    if (name.name === 'ARGV' && lineOf(name) >= declarations.after) refuse(lineOf(name), ARGV_ELSEWHERE)
    if (name.name === 'KEYS' && lineOf(name) >= declarations.after) refuse(lineOf(name), KEYS_ELSEWHERE)
  }
  for (const name of names.globalWrites) refuse(lineOf(name), globalWritten(name, script))
  for (const { name, line, kind, reads, writes } of names.bindings) {
    if (name === 'arg' && kind === 'implied')
      for (const use of [...reads, ...writes]) refuse(lineOf(use), ARG)
    if (OFFERED.has(name)) refuse(line, `${name} belongs to Lua: take another name for this local`)
    const isOwn = kind !== 'parameter' && locate(script.built.lines, line).file === file
    if (name === 'keys' && isOwn) refuse(line, 'keys is the table of keys: take another name for this local')
  }
  for (const name of usesOfLocals(script))
    refuse(
      lineOf(name),
      `${name.name} is a local of ${file}, and modules do not see it: pass it as a parameter`,
    )
}

const ARGV_ELSEWHERE =
  'ARGV stands in the declarations only, directly behind the head: write local name = ARGV[1] -- text: what it is there, and name here'
const ARG =
  'arg is something else in a function with ..., which hides what it was: write local list = { ... }, or take another name'
const KEYS_ELSEWHERE =
  'KEYS stands in the declarations only: write keys.name, and in a module take the key as a parameter'

/** What is wrong with reading this global; null where nothing is. */
function messageOf(read: Identifier, script: Script): string | null {
  const { names, built, file } = script
  const { name } = read
  const isOwn = locate(built.lines, lineOf(read)).file === file
  const ofLua = OF_LUA.find((each) => each.names.split(' ').includes(name))
  if (ofLua) return `the global ${name} may not be used: ${ofLua.mend}`
  if (name === 'keys' || (name === 'try' && isOwn)) return null // refused where keys are found, and try is read
  if (name === 'try') return TRY_FORM
  // What a circle of modules has in it is refused as that.
  if (OFFERED.has(name) || built.modules.has(name) || isLocalElsewhere(read, script)) return null
  if (isOwn && isKey(name, script)) return `${name} is defined nowhere: write keys.${name} for the key`
  const later = names.bindings.find(
    (each) => each.name === name && each.line > lineOf(read) && each.kind === 'local',
  )
  if (later)
    return `${name} is not known yet: move its definition in line ${locate(built.lines, later.line).line} above this line`
  const known = [...built.modules.keys(), ...names.bindings.map((each) => each.name), ...OFFERED]
  return `${name} is defined nowhere: ${orNearest(name, known, 'define it as a local above this line, or in a module below shared')}`
}

function globalWritten(write: Identifier, script: Script): string {
  const { name } = write
  const isOwn = locate(script.built.lines, lineOf(write)).file === script.file
  return isOwn && isKey(name, script)
    ? `the global ${name} may not be set: write local ${name} for a value, and redis.call('SET', keys.${name}, …) or a similar command for the key`
    : `the global ${name} may not be set: write local before its first use`
}

function isKey(name: string, { built }: Script): boolean {
  return built.keyList?.keys.some((key) => key.name === name) ?? false
}

/** What modules take from the locals of a script would be missing in the next one. */
function usesOfLocals(script: Script): Identifier[] {
  const { names, built, file } = script
  const isOfModule = (line: number): boolean =>
    ![file, built.keyList?.file].includes(locate(built.lines, line).file)
  const uses = names.bindings
    .filter(({ line }) => !isOfModule(line))
    .flatMap(({ reads, writes }) => [...reads, ...writes])
  return [...uses, ...names.globalReads.filter((name) => isLocalElsewhere(name, script))].filter((name) =>
    isOfModule(lineOf(name)),
  )
}

/** Whether a module reads what a script has under this name, but behind it. */
function isLocalElsewhere(name: Identifier, { names, built, file }: Script): boolean {
  const fileAt = (line: number): string => locate(built.lines, line).file
  return (
    fileAt(lineOf(name)) !== file &&
    names.bindings.some((each) => each.name === name.name && fileAt(each.line) === file)
  )
}
