import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join, resolve, sep } from 'node:path'
import { type KeyList, readKeyList } from './key-list.ts'
import { type ModuleFile, type Modules, modulesOf } from './modules.ts'
import type { Problem } from './problem.ts'
import type { Source } from './script.ts'
import { readText } from './source-text.ts'
import { joined } from './spelling.ts'

interface SourceFile extends Source {
  readonly text: string
}

/** The Lua files below a folder; `shared` holds the modules, every other folder is a structure. */
export interface Tree {
  readonly operations: readonly SourceFile[]
  readonly modules: readonly ModuleFile[]
  /** What operations of a structure may use: of `shared/<structure>`, and of what in `shared` is no structure's. */
  modulesFor(structure: string): Modules
  /** The keys of a structure; null where its operations declare them. */
  keysOf(structure: string): KeyList | null
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

/** The modules of ours that other folders may use. */
const GENERAL: readonly string[] = ['calls', 'clock', 'expiry', 'numbers', 'tokens']

/** Files are named from the folder on: `lua/feed/append.lua`. `library`: the folder of the modules of ours. */
export function readTree(root: string, library?: string): Tree {
  const shown = basename(resolve(root))
  const problems: Problem[] = straysIn(root).map((path) => ({
    file: `${shown}/${path}`,
    line: 1,
    message: STRAY,
  }))
  const structures = structuresOf(root)
  const operations = structures.flatMap((structure) => operationsOf(root, structure, problems))
  problems.push(...operations.flatMap(({ name, file }) => misnamed(name, file)))
  const modules = modulesIn(root, problems)
  const general = library === undefined ? [] : GENERAL.map((name) => generalModule(library, name))
  return {
    operations,
    problems,
    modules,
    keysOf: (structure) => keysIn(root, structure, problems),
    modulesFor: (structure) =>
      modulesOf([...general, ...modules.filter(isKnownTo(structure, structures, shown))], problems),
  }
}

function isKnownTo(structure: string, structures: readonly string[], shown: string) {
  return ({ file }: ModuleFile): boolean => {
    const [folder = '', ...rest] = file.slice(`${shown}/shared/`.length).split('/')
    return rest.length === 0 || folder === structure || !structures.includes(folder)
  }
}

function modulesIn(root: string, problems: Problem[]): ModuleFile[] {
  const shared = join(root, 'shared')
  if (!existsSync(shared)) return []
  const paths = readdirSync(shared, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.lua'),
  )
  return paths.toSorted().map((path) => {
    const file = `${basename(resolve(root))}/shared/${path.split(sep).join('/')}`
    return { file, text: readText(join(shared, path), file, problems) }
  })
}

function generalModule(library: string, name: string): ModuleFile {
  const text = readFileSync(join(library, 'shared', `${name}.lua`), 'utf8')
  return { file: `perilune/lua/shared/${name}.lua`, text }
}

/** The structures of a folder, sorted. */
export function structuresOf(root: string): string[] {
  return readdirSync(root)
    .filter((name) => name !== 'shared' && statSync(join(root, name)).isDirectory())
    .toSorted()
}

const KEYS = 'keys.lua'

function keysIn(root: string, structure: string, problems: Problem[]): KeyList | null {
  const path = join(root, structure, KEYS)
  const file = `${basename(resolve(root))}/${structure}/${KEYS}`
  if (!existsSync(path)) return null
  return readKeyList(
    file,
    readText(path, file, problems),
    (line, message) => void problems.push({ file, line, message }),
  )
}

function operationsOf(root: string, structure: string, problems: Problem[]): SourceFile[] {
  const files = readdirSync(join(root, structure)).filter((file) => file.endsWith('.lua') && file !== KEYS)
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

const STRAY = 'this file is no operation and no module: move it to <structure>/<operation>.lua, or to shared'

/** Files of Lua that lie where neither operations nor modules do. */
function straysIn(root: string): string[] {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).map((path) =>
    path.split(sep).join('/'),
  )
  return files.filter(
    (path) => /\.lua$/i.test(path) && !path.startsWith('shared/') && !/^[^/]+\/[^/]+\.lua$/.test(path),
  )
}

function misspelt(part: string): string {
  return part.toLowerCase() === 'keys'
    ? `${part}.lua is not the list of keys: rename it to keys.lua`
    : `${part} is not in lower case with hyphens: rename it to ${joined(part, '-')}`
}

function misnamed(name: string, file: string): Problem[] {
  const problems: Problem[] = []
  const refuse = (message: string): void => void problems.push({ file, line: 1, message })
  for (const part of name.split('/')) if (!KEBAB.test(part)) refuse(misspelt(part))
  const operation = name.split('/')[1] ?? ''
  if (RESERVED.has(operation)) refuse(`${operation} is a reserved word in other languages: rename the file`)
  return problems
}
