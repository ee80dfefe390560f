// Tables of options, from the types and their docstrings: a page names the types between markers,
// `<!-- generated:options LockOptions -->` to `<!-- /generated:options -->`.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Comment,
  parseSync,
  type TSInterfaceDeclaration,
  type TSPropertySignature,
  type TSType,
} from 'oxc-parser'
import { textOf } from './pages.ts'

interface Option {
  readonly name: string
  readonly type: string
  readonly optional: boolean
  readonly doc: string
}

interface Declared {
  readonly file: string
  readonly text: string
  readonly comments: readonly Comment[]
  readonly node: TSInterfaceDeclaration
}

export type OptionTypes = ReadonlyMap<string, Declared>

const MARKERS = /(<!-- generated:options ([^>]*?) -->)[^]*?(<!-- \/generated:options -->)/g

/** Every exported interface below a folder, by name. */
export function optionTypesIn(root: string, folder: string): OptionTypes {
  return new Map(sourcesIn(root, folder).flatMap((file) => interfacesOf(file, textOf(root, file))))
}

/** A page with the tables between its markers brought up to date. */
export function withOptions(page: string, types: OptionTypes): string {
  return page.replace(MARKERS, (_, open: string, names: string, close: string) => {
    const options = names.split(',').flatMap((name) => optionsOf(name.trim(), types))
    return `${open}\n\n${tableOf(options)}\n${close}`
  })
}

function sourcesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath.slice(root.length + 1), entry.name))
}

function interfacesOf(file: string, text: string): [string, Declared][] {
  const { program, comments } = parseSync(file, text)
  return program.body.flatMap((statement) => {
    if (statement.type !== 'ExportNamedDeclaration') return []
    const node = statement.declaration
    return node?.type === 'TSInterfaceDeclaration' ? [[node.id.name, { file, text, comments, node }]] : []
  })
}

/** Its own options first, then those that it takes over. */
function optionsOf(name: string, types: OptionTypes): Option[] {
  const declared = types.get(name)
  if (declared === undefined)
    throw new Error(`no exported interface of src is called '${name}': a page wants its options`)
  const own = declared.node.body.body
    .filter((each) => each.type === 'TSPropertySignature')
    .map((each) => optionOf(declared, each))
  const inherited = declared.node.extends.flatMap(({ expression, typeArguments }) =>
    expression.type === 'Identifier' ? inheritedOf(expression.name, typeArguments?.params ?? [], types) : [],
  )
  return [...own, ...inherited.filter(({ name: other }) => !own.some((each) => each.name === other))]
}

function inheritedOf(name: string, [base, left]: readonly TSType[], types: OptionTypes): Option[] {
  if (name !== 'Omit') return optionsOf(name, types)
  if (base?.type !== 'TSTypeReference' || base.typeName.type !== 'Identifier') return []
  const without = left?.type === 'TSUnionType' ? left.types : [left]
  const names: ReadonlySet<unknown> = new Set(
    without.flatMap((each) =>
      each?.type === 'TSLiteralType' && each.literal.type === 'Literal' ? [each.literal.value] : [],
    ),
  )
  return optionsOf(base.typeName.name, types).filter((option) => !names.has(option.name))
}

function optionOf({ file, text, comments }: Declared, node: TSPropertySignature): Option {
  const { key, typeAnnotation: annotation } = node
  const name = key.type === 'Identifier' ? key.name : text.slice(key.start, key.end)
  const doc = comments.findLast(
    ({ type, end, value }) =>
      type === 'Block' &&
      value.startsWith('*') &&
      end <= node.start &&
      text.slice(end, node.start).trim() === '',
  )
  if (doc === undefined) throw new Error(`${file}: option '${name}' has no docstring, and a page shows it`)
  return {
    name,
    type: annotation
      ? plain(text.slice(annotation.typeAnnotation.start, annotation.typeAnnotation.end))
      : 'unknown',
    optional: node.optional,
    doc: plain(doc.value.replaceAll(/^\s*\*/gm, ' ')),
  }
}

function tableOf(options: readonly Option[]): string {
  const rows = options.map(({ name, type, optional, doc }) => {
    const { meaning, preset } = splitDefault(doc)
    return [`\`${name}\``, `\`${type}\``, meaning, preset ?? (optional ? 'none' : 'required')]
  })
  const lines = [['option', 'type', 'meaning', 'default'], ['---', '---', '---', '---'], ...rows]
  return lines
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('')
}

/** A docstring names its default at the end of a sentence: `How long; default one minute.` or `Default: no limit.` */
function splitDefault(doc: string): { meaning: string; preset?: string } {
  const found = /(?:[;,.]\s+|^)default:?\s+(.+?)\.(?=\s|$)/i.exec(doc)
  if (found?.[1] === undefined) return { meaning: doc }
  const before = doc.slice(0, found.index)
  const after = doc.slice(found.index + found[0].length).trim()
  const meaning = [before === '' ? '' : `${before.replace(/[.;,]$/, '')}.`, after].filter(Boolean).join(' ')
  return { meaning, preset: found[1] }
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
