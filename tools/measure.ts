// `npm run measure`: how long files and functions are, how much is comment, how much stands twice, and what is
// over the limits of docs/decisions/0012-how-long-things-are.md.

import { join } from 'node:path'
import { type Measured, median, percentile } from './measure/lines.ts'
import { linesOfOperation } from './measure/lua.ts'
import { FOLDERS, linesOf, measureParts, type Part, sum } from './measure/parts.ts'
import { filesIn, findCycle, importsOf, textOf } from './measure/source-files.ts'

const SOURCES = ['lua operations', 'lua modules', 'src', 'server', 'tools']

const root = join(import.meta.dirname, '..')
const parts = measureParts(root)
const operations = partsNamed(['lua operations']).flatMap(({ files }) =>
  files.map((each) => ({ ...each, lines: linesOfOperation(textOf(root, each.file)) })),
)

console.log('| part | files | lines a file | lines a function | comments | repeated |')
console.log('| --- | ---: | --- | --- | ---: | ---: |')
for (const part of parts) console.log(rowOf(part))
const ratio = linesIn(['tests']) / linesIn(SOURCES)
console.log(`\nlines of tests for a line of ${SOURCES.join(', ')}: ${ratio.toFixed(1)}`)
console.log(`lines of an operation behind its declarations: ${spread(operations)}`)
console.log(`import cycles, types included: ${cycle()?.join(' -> ') ?? 'none'}\n`)
tellLonger(
  'functions',
  parts.flatMap(({ functions }) => functions),
  60,
)
tellLonger(
  'TypeScript files',
  parts.filter(({ name }) => !name.startsWith('lua') && name !== 'tests').flatMap(({ files }) => files),
  200,
)
tellLonger('operations', operations, 60)

function rowOf({ name, files, functions, comments, repeated }: Part): string {
  const cells = [name, files.length, spread(files), spread(functions), share(comments), share(repeated)]
  return `| ${cells.join(' | ')} |`
}

/** Median, 95th percentile, largest. */
function spread(found: readonly Measured[]): string {
  const lines = found.map(linesOf)
  return [median(lines), percentile(lines, 95), Math.max(0, ...lines)].join(' / ')
}

function share(value: number): string {
  return `${Math.round(value * 100)} %`
}

function partsNamed(names: readonly string[]): Part[] {
  return parts.filter(({ name }) => names.includes(name))
}

function linesIn(names: readonly string[]): number {
  return sum(partsNamed(names).flatMap(({ files }) => files.map(linesOf)))
}

function cycle(): string[] | null {
  const files = FOLDERS.flatMap((folder) => filesIn(root, folder, '.ts'))
  const imports = files.map((path) => {
    const own = importsOf(path, textOf(root, path)).flatMap(({ file }) => file ?? [])
    return [path, own] as const
  })
  return findCycle(new Map(imports))
}

function tellLonger(what: string, found: readonly Measured[], limit: number): void {
  const longer = found.filter(({ lines }) => lines > limit).toSorted((a, b) => b.lines - a.lines)
  console.log(`${what} over ${limit} lines: ${longer.length}`)
  for (const { file, line, lines } of longer) console.log(`  ${file}:${line} ${lines}`)
}
