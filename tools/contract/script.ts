import type { Chunk } from 'luaparse'
import { parse } from 'luaparse'
import type { OptionalCommand } from './contract.ts'
import { type Declarations, readDeclarations } from './declarations.ts'
import { type Head, optionalCommands, type Refuse, readHead } from './head.ts'
import { type Built, locate } from './include.ts'
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
  const chunk = readChunk(built.source, refuse)
  const head = readHead(built.source, refuse)
  if (!head || !chunk) return null
  const declarations = readDeclarations(built.source, head.after, refuse)
  const optional = [...head.optional, ...optionalCommands(built.source)]
  return { ...source, built, head, declarations, chunk, names: resolve(chunk), optional: byCommand(optional) }
}

/** Reports problems of a built script at the places they come from. */
export function refuseInto(problems: Problem[], built: Built): Refuse {
  return (line, message) => void problems.push({ ...locate(built.lines, line), message })
}

function readChunk(source: string, refuse: Refuse): Chunk | null {
  try {
    return parse(source, { luaVersion: '5.1', locations: true, ranges: true })
  } catch (error) {
    if (error instanceof RangeError) {
      refuse(1, 'is nested too deeply')
      return null
    }
    const [, line, message] =
      (error instanceof SyntaxError && /^\[(\d+):\d+\] (.*)$/s.exec(error.message)) || []
    if (line === undefined || message === undefined) throw error
    refuse(Number(line), `syntax error: ${message}`)
    return null
  }
}

function byCommand(optional: readonly OptionalCommand[]): OptionalCommand[] {
  const byName = new Map(optional.map((one) => [one.command, one]))
  return [...byName.values()].toSorted((a, b) => (a.command < b.command ? -1 : 1))
}
