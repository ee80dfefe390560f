// `perilune generate`: compiles a folder of Lua into one TypeScript module.

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, normalize, resolve } from 'node:path'
import { checkHandles } from '../contract/check-handles.ts'
import { compileTree } from '../contract/compile.ts'
import { handlesModule } from '../contract/emit-handles.ts'
import { ContractError } from '../contract/problem.ts'
import { structuresOf } from '../contract/tree.ts'
import { CommandError } from './error.ts'

export interface GenerateOptions {
  /** The folder with the Lua files. */
  readonly folder: string
  /** The module to write. */
  readonly out: string
  /** Writes nothing, and finds fault with a module that is not what would be written. */
  readonly check: boolean
  /** The folder with the Lua files of the library. */
  readonly library: string
  /** Scripts keep the names and the blanks of their sources; default: false. */
  readonly readable?: boolean
}

/** Writes the module; returns the message about it. Throws CommandError, and then nothing is written. */
export function generate({ folder, out, check, library, readable = false }: GenerateOptions): string {
  // Any other file would be overwritten, such as the source that was meant to be read.
  if (!/\.[cm]?ts$/.test(out))
    throw new CommandError(`--out must be a TypeScript module, such as redis.ts, not ${out}`)
  const text = orExplain('read', folder, () => moduleOf(folder, library, readable))
  // A checkout may have given it line breaks of Windows.
  const known = check || isFile(out) ? orExplain('read', out, () => readIfThere(out)) : null
  if (known?.replaceAll('\r\n', '\n') === text) return `${out} is up to date`
  if (check)
    throw new CommandError(
      `${out} differs: run perilune generate ${folder} --out ${out}${readable ? ' --readable' : ''}`,
    )
  orExplain('write', out, () => {
    mkdirSync(dirname(resolve(out)), { recursive: true })
    writeFileSync(out, text)
  })
  return `${out} written`
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile()
}

function readIfThere(path: string): string | null {
  return existsSync(path) ? readFileSync(path, 'utf8') : null
}

/** An error of the file system keeps its own message. */
function orExplain<Value>(what: 'read' | 'write', place: string, act: () => Value): Value {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    const path = 'path' in error ? String(error.path) : place
    throw new CommandError(`cannot ${what} ${path}: ${error.message}`)
  }
}

function moduleOf(folder: string, library: string, readable: boolean): string {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new CommandError(
      `there is no folder ${folder}: write the folder that has <structure>/<operation>.lua`,
    )
  try {
    const contract = compileTree(folder, undefined, library, { form: readable ? 'readable' : 'short' })
    if (Object.keys(contract.operations).length === 0) {
      throw new CommandError(
        `${folder} has no operations: write them as ${folder}/<structure>/<operation>.lua`,
      )
    }
    checkHandles(contract, structuresOf(library))
    return handlesModule(contract, basename(resolve(folder)))
  } catch (error) {
    if (error instanceof ContractError) throw new CommandError(problemsFrom(error, folder))
    throw error
  }
}

/** The compiler names files from the folder on; people need the way to them. */
function problemsFrom({ problems }: ContractError, folder: string): string {
  const base = basename(resolve(folder))
  const place = (file: string): string =>
    file.startsWith(`${base}/`) ? normalize(join(folder, file.slice(base.length + 1))) : file
  return problems.map(({ file, line, message }) => `${place(file)}:${line} ${message}`).join('\n')
}
