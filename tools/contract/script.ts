import type { Chunk, Comment } from 'luaparse'
import type { OptionalCommand } from './contract.ts'
import { type Declarations, type DeclaredKey, readDeclarations } from './declarations.ts'
import { type Head, optionalCommands, type Refuse, readHead } from './head.ts'
import type { Built } from './built.ts'
import { locate } from './locate.ts'
import { refuseOldGrammar } from './old-grammar.ts'
import { parseLua } from './parse-lua.ts'
import type { Problem } from './problem.ts'
import { type Names, resolve } from './scope.ts'

/** A built script taken apart, as the rules and the emitters see it. */
export interface Script {
  /** `feed/append` */
  readonly name: string
  readonly structure: string
  readonly file: string
  readonly built: Built
  readonly head: Head
  readonly declarations: Declarations
  readonly chunk: Chunk
  readonly names: Names
  /** Guarded at run time, by the word of the head or of a fragment. */
  readonly optional: readonly OptionalCommand[]
}

export interface Source {
  readonly name: string
  readonly structure: string
  readonly file: string
}

/** Takes a built script apart; null when its head or its syntax cannot be read. */
export function readScript(source: Source, built: Built, problems: Problem[]): Script | null {
  problems.push(...built.problems)
  const refuse = refuseInto(problems, built)
  const chunk = parseLua(built.source, refuse)
  const head = readHead(built.source, (line, message) => problems.push({ file: source.file, line, message }))
  if (!head || !chunk) return null
  refuseOldGrammar(chunk, refuse)
  const read = readDeclarations(built.source, head.after, refuse, (name) => built.modules.get(name)?.table)
  const declarations = { ...read, keys: read.keys.map((key) => ({ ...key, part: partOf(key, built) })) }
  const optional = [...head.optional, ...optionalCommands(commentsAlone(chunk))]
  return { ...source, built, head, declarations, chunk, names: resolve(chunk), optional: byCommand(optional) }
}

/** The name of a key in the list of its structure: the local may have another one, where a local of the script has that name. */
function partOf({ part, line }: DeclaredKey, { lines, keyList }: Built): string {
  const place = locate(lines, line)
  const listed =
    place.file === keyList?.file ? keyList.keys.find((key) => key.line === place.line) : undefined
  return listed?.name.replaceAll('_', '-') ?? part
}

/** Reports problems of a built script at the places they come from. */
export function refuseInto(problems: Problem[], built: Built): Refuse {
  return (line, message) => void problems.push({ ...locate(built.lines, line), message })
}

/** Those that begin their lines. */
function commentsAlone({ comments = [] }: Chunk): Comment[] {
  return comments.filter(({ loc }) => loc?.start.column === 0)
}

function byCommand(optional: readonly OptionalCommand[]): OptionalCommand[] {
  const byName = new Map(optional.map((one) => [one.command, one]))
  return [...byName.values()].toSorted((a, b) => (a.command < b.command ? -1 : 1))
}
