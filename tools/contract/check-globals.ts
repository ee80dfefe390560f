import type { Identifier } from 'luaparse'
import type { Refuse } from './head.ts'
import { locate } from './locate.ts'
import { nearest } from './nearest.ts'
import { OFFERED } from './offered.ts'
import { lineOf } from './scope.ts'
import type { Script } from './script.ts'

/** What Lua offers elsewhere, or what reaches beyond the script. */
const OF_LUA = new Set(
  `_G _VERSION cjson cmsgpack collectgarbage coroutine debug dofile gcinfo getfenv getmetatable io load loadfile
   loadstring module newproxy os package print rawequal rawget rawset require setfenv setmetatable xpcall`.split(
    /\s+/,
  ),
)

/** A script reads what Redis offers and stays harmless, and what modules define, and sets no global at all. */
export function checkGlobals(script: Script, refuse: Refuse): void {
  const { names, built, declarations, file } = script
  // What a circle of modules has in it is told of as that.
  const isOffered = (name: string): boolean => OFFERED.has(name) || built.modules.has(name)
  const known = [...built.modules.keys(), ...names.bindings.map(({ name }) => name), ...OFFERED]
  for (const name of names.globalReads) {
    if (OF_LUA.has(name.name)) refuse(lineOf(name), `the global ${name.name} may not be used`)
    else if (name.name === 'keys' && built.keyFile === null) refuse(lineOf(name), noKeys(file))
    else if (!isOffered(name.name) && !isLocalElsewhere(name, script))
      refuse(lineOf(name), notDefined(name.name, known))
    const declaring = lineOf(name) < declarations.after
    if (['KEYS', 'ARGV'].includes(name.name) && !declaring) {
      refuse(lineOf(name), `${name.name} may stand in the declarations only: ${INSTEAD[name.name]}`)
    }
  }
  for (const name of names.globalWrites) refuse(lineOf(name), `the global ${name.name} may not be set`)
  for (const { name, line } of names.bindings) {
    if (OFFERED.has(name)) refuse(line, `a local may not be called ${name}`)
  }
  for (const name of usesOfLocals(script))
    refuse(
      lineOf(name),
      `${name.name} is a local of ${file}, which modules do not know: pass it as a parameter`,
    )
}

/** What to write in the place of these tables. */
const INSTEAD: Readonly<Record<string, string>> = {
  KEYS: 'write keys.name, and in a module take the key as a parameter',
  ARGV: 'declare local name = ARGV[1] -- text: meaning behind the head, and in a module take it as a parameter',
}

function noKeys(file: string): string {
  const list = file.replace(/[^/]+$/, 'keys.lua')
  return `${list} is missing: it lists the keys of the structure, return { name = 'hash', -- what it holds }, one key a line`
}

function notDefined(name: string, known: readonly string[]): string {
  const like = nearest(name, known)
  return `${name} is defined nowhere${like === null ? '' : `: did you mean ${like}?`}`
}

/** What modules take from the locals of a script would be missing in the next one. */
function usesOfLocals(script: Script): Identifier[] {
  const { names, built, file } = script
  const isOfModule = (line: number): boolean =>
    ![file, built.keyFile].includes(locate(built.lines, line).file)
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
