// Copies of the library in one process: what a program has that loads it both as ESM and as CommonJS, or in two versions, or
// bundled, or in the sandbox of a test runner.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import tsconfig from '../../tsconfig.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The library by its public names. */
const ALIAS = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, [file = '']]) => [name, join(ROOT, file)]),
)

export interface CopyOptions {
  /** Shortens names, those of classes among them. */
  minify?: boolean
}

/** What `contents` exports, as a CommonJS module with everything in it that it imports. */
export async function loadCopy<Exports>(contents: string, options: CopyOptions = {}): Promise<Exports> {
  return withBundle(contents, options, (file) => createRequire(import.meta.url)(file))
}

/** The text of such a module. */
export async function bundleCopy(contents: string): Promise<string> {
  return withBundle(contents, {}, (file) => readFile(file, 'utf8'))
}

async function withBundle<Result>(
  contents: string,
  { minify = false }: CopyOptions,
  use: (file: string) => Result | Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'perilune-copy-'))
  const outfile = join(folder, 'copy.cjs')
  const stdin = { contents, resolveDir: ROOT, loader: 'ts' } as const
  const shape = { bundle: true, format: 'cjs', platform: 'node', target: 'node20' } as const
  try {
    await build({ stdin, outfile, minify, alias: ALIAS, external: ['libsql'], logLevel: 'error', ...shape })
    return await use(outfile)
  } finally {
    await rm(folder, { recursive: true })
  }
}
