import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve, sep } from 'node:path'
import type { ReadFragment } from './include.ts'
import type { Problem } from './problem.ts'
import type { Source } from './script.ts'
import { readText } from './source-text.ts'

interface SourceFile extends Source {
  readonly text: string
}

/** The Lua files below a folder; `shared` holds the fragments, every other folder is a structure. */
export interface Tree {
  readonly operations: readonly SourceFile[]
  readonly fragment: ReadFragment
  readonly problems: readonly Problem[]
}

const KEBAB = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/

/** Words that cannot name a function in the generated code of a language we serve. */
export const RESERVED: ReadonlySet<string> = new Set(
  `and as assert async await break case catch class const continue debugger def default del delete do elif
   else enum except export extends false finally for from function global if implements import in interface
   is lambda let new nonlocal not null or package pass private protected public raise return static super
   switch this throw true try typeof var void while with yield`.split(/\s+/),
)

/** The fragments of ours that other folders may include, as `perilune/clock`. */
const GENERAL: readonly string[] = ['calls', 'clock', 'drop-over', 'exact', 'exact-range', 'next-token']

/**
 * Files are named from the folder on: `lua/feed/append.lua`. `library`: the folder of the fragments of ours. Problems of
 * fragments are there once these are read.
 */
export function readTree(root: string, library?: string): Tree {
  const shown = basename(resolve(root))
  const problems: Problem[] = straysIn(root).map((path) => ({
    file: `${shown}/${path}`,
    line: 1,
    message: STRAY,
  }))
  const operations = structuresOf(root).flatMap((structure) => operationsOf(root, structure, problems))
  problems.push(...operations.flatMap(({ name, file }) => misnamed(name, file)))
  const texts = new Map<string, string>()
  return { operations, problems, fragment: readFragment }

  function readFragment(name: string): { file: string; text: string } | null {
    const general = GENERAL.find((fragment) => name === `perilune/${fragment}`)
    if (general !== undefined && library !== undefined) return generalFragment(library, general)
    const path = join(root, `${name}.lua`)
    if (!name.startsWith('shared/') || name.includes('..') || !existsSync(path)) return null
    const file = `${shown}/${name}.lua`
    const text = texts.get(name) ?? readText(path, file, problems)
    texts.set(name, text)
    return { file, text }
  }
}

/** What a fragment of ours includes is of ours too. */
function generalFragment(library: string, name: string): { file: string; text: string } {
  const text = readFileSync(join(library, 'shared', `${name}.lua`), 'utf8')
  return {
    file: `perilune/lua/shared/${name}.lua`,
    text: text.replace(/^(\s*-- @include )shared\//gm, '$1perilune/'),
  }
}

/** The structures of a folder, sorted. */
export function structuresOf(root: string): string[] {
  return readdirSync(root)
    .filter((name) => name !== 'shared' && statSync(join(root, name)).isDirectory())
    .toSorted()
}

function operationsOf(root: string, structure: string, problems: Problem[]): SourceFile[] {
  const files = readdirSync(join(root, structure)).filter((file) => file.endsWith('.lua'))
  return files.toSorted().map((each) => {
    const file = `${basename(resolve(root))}/${structure}/${each}`
    return {
      name: `${structure}/${each.slice(0, -'.lua'.length)}`,
      structure,
      file,
      text: readText(join(root, structure, each), file, problems),
    }
  })
}

const STRAY = 'nothing is made of it: operations lie in <structure>/<operation>.lua, fragments in shared'

/** Files of Lua that lie where neither operations nor fragments do. */
function straysIn(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.split(sep).join('/'),
  )
  return files.filter(
    (path) => /\.lua$/i.test(path) && !path.startsWith('shared/') && !/^[^/]+\/[^/]+\.lua$/.test(path),
  )
}

function misnamed(name: string, file: string): Problem[] {
  const odd = name.split('/').filter((part) => !KEBAB.test(part))
  const messages = odd.map((part) => `${part} is not a name in lower case with hyphens`)
  const operation = name.split('/')[1] ?? ''
  if (RESERVED.has(operation))
    messages.push(`${operation} is a reserved word in other languages: take another verb`)
  return messages.map((message) => ({ file, line: 1, message }))
}
