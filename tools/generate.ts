// Writes everything that follows from the Lua files: the contract, the typed functions, the tables of
// the docs. With --check it writes nothing, and fails when a file is not what it would write.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { compileTree } from './contract/compile.ts'
import type { Contract } from './contract/contract.ts'
import { bitsModule } from './contract/emit-bits.ts'
import { compatibilityPage, scriptsPage, withKeys } from './contract/emit-docs.ts'
import { contractJson } from './contract/emit-json.ts'
import { generalModule } from './contract/emit-lua.ts'
import { structureModule } from './contract/emit-typescript.ts'
import { ContractError } from './contract/problem.ts'
import { optionTypesIn, withOptions } from './docs/options.ts'
import { pagesIn } from './docs/pages.ts'
import { promisesPage } from './docs/promises.ts'

const MODULES = 'src/generated'

/** Path to text; null for a file that must not exist. */
type Files = Map<string, string | null>

function filesOf(root: string, contract: Contract): Files {
  const files: Files = new Map(staleModules(root, contract).map((path) => [path, null]))
  files.set('lua/contract.json', contractJson(contract))
  files.set('docs/compatibility.md', compatibilityPage(contract))
  if (existsSync(join(root, 'test/promises'))) files.set('docs/promises.md', promisesPage(root))
  files.set(`${MODULES}/shared.ts`, generalModule(contract))
  files.set(`${MODULES}/bits.ts`, bitsModule(join(root, 'lua')))
  for (const structure of Object.keys(contract.structures)) {
    files.set(`${MODULES}/${structure}.ts`, structureModule(contract, structure))
    const path = `docs/structures/${structure}.md`
    const page = readIfThere(root, path)
    if (page === null) continue
    files.set(path, withKeys(page, contract, structure))
    files.set(`docs/scripts/${structure}.md`, scriptsPage(contract, structure))
  }
  const types = optionTypesIn(root, 'src')
  for (const path of pagesIn(root, 'docs')) {
    const page = files.get(path) ?? readIfThere(root, path)
    if (page?.includes('<!-- generated:options ') === true) files.set(path, withOptions(page, types))
  }
  return files
}

/** What no structure has for itself. */
const GENERAL: ReadonlySet<string> = new Set(['shared.ts', 'bits.ts'])

/** Modules of structures that no longer exist. */
function staleModules(root: string, contract: Contract): string[] {
  const folder = join(root, MODULES)
  const found = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.ts')) : []
  return found
    .filter((file) => !GENERAL.has(file) && !(file.slice(0, -3) in contract.structures))
    .map((file) => `${MODULES}/${file}`)
}

function readIfThere(root: string, path: string): string | null {
  const full = join(root, path)
  return existsSync(full) ? readFileSync(full, 'utf8') : null
}

function write(full: string, text: string | null): void {
  if (text === null) return rmSync(full)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
}

function versionOf(root: string): string {
  const version: unknown = Object(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))).version
  if (typeof version !== 'string') throw new TypeError('package.json has no version')
  return version
}

function generate(root: string, check: boolean): void {
  const files = filesOf(root, compileTree(join(root, 'lua'), versionOf(root)))
  const differing = [...files].filter(([path, text]) => readIfThere(root, path) !== text)
  for (const [path, text] of differing) {
    console.log(
      check ? `${path} differs: run npm run generate` : `${path} ${text === null ? 'removed' : 'written'}`,
    )
    if (!check) write(join(root, path), text)
  }
  if (check && differing.length > 0) process.exitCode = 1
}

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    root: { type: 'string', default: join(import.meta.dirname, '..') },
  },
})
try {
  generate(values.root, values.check)
} catch (error) {
  if (!(error instanceof ContractError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
