// The files that the rules of ARCHITECTURE.md speak of, and what they import.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

export interface Import {
  /** As written: `../driver.ts`, `node:fs`, `perilune`. */
  readonly specifier: string
  /** Path from the root of the project; null for a package. */
  readonly file: string | null
  readonly typeOnly: boolean
}

const LEFT_OUT = new Set(['node_modules', 'dist', '__pycache__'])

/** Paths below a folder of the project, by how they end; folders that only tools write are left out. */
export function filesIn(root: string, folder: string, ending: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(
    ({ name }) => !LEFT_OUT.has(name),
  )
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return filesIn(root, path, ending)
    return entry.name.endsWith(ending) ? [path] : []
  })
}

export function textOf(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

// A statement begins its line, so text in comments and strings is not taken for one.
const STATEMENT =
  /^(?:import|export)\b(?<type>\s+type\b)?(?<names>[^'"`;=]*?\bfrom)?\s*['"](?<from>[^'"\n]+)['"]/gm
const CALL = /\bimport\(\s*['"](?<from>[^'"\n]+)['"]\s*\)/g

/** Every import of a TypeScript module: statements, re-exports and calls. */
export function importsOf(path: string, text: string): Import[] {
  const statements = [...text.matchAll(STATEMENT)].map(({ groups }) => ({
    specifier: groups?.['from'] ?? '',
    typeOnly: groups?.['type'] !== undefined,
  }))
  const calls = [...text.matchAll(CALL)].map(({ groups }) => ({
    specifier: groups?.['from'] ?? '',
    typeOnly: false,
  }))
  return [...statements, ...calls]
    .filter(({ specifier }) => !specifier.includes('${'))
    .map((each) => ({ ...each, file: fileOf(path, each.specifier) }))
}

function fileOf(path: string, specifier: string): string | null {
  return specifier.startsWith('.') ? normalize(join(dirname(path), specifier)) : null
}

/** The first import cycle, as the files on it, or null. */
export function findCycle(imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return null
    for (const next of imports.get(file) ?? []) {
      const cycle = visit(next, [...path, file])
      if (cycle !== null) return cycle
    }
    done.add(file)
    return null
  }
  for (const file of imports.keys()) {
    const cycle = visit(file, [])
    if (cycle !== null) return cycle
  }
  return null
}
