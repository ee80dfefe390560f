import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of `buildPrograms`. Without it, as in tools, programs run from their sources. */
export const PROGRAMS_VARIABLE = 'PERILUNE_TEST_PROGRAMS'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A process that runs the program with this source. */
export function forkProgram(source: URL, args: readonly string[], options: ForkOptions = {}): ChildProcess {
  const file = fileURLToPath(source)
  const built = builtOf(file)
  if (built === null) return fork(file, args, { ...options, execArgv: ['--import', 'tsx'] })
  return fork(built, args, options)
}

/** The arguments with which `node` runs the program of this source. */
export function commandOf(source: URL): string[] {
  const file = fileURLToPath(source)
  const built = builtOf(file)
  return built === null ? ['--import', 'tsx', file] : [built]
}

function builtOf(file: string): string | null {
  const folder = process.env[PROGRAMS_VARIABLE]
  if (folder === undefined) return null
  const built = join(folder, relative(ROOT, file).replace(/\.ts$/, '.mjs'))
  if (!existsSync(built)) throw new Error(`${file} is not among the programs of test/programs/build.ts`)
  return built
}
