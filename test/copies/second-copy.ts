// Several copies of the library in one process: a program may load two versions, bundle one in a part of its own, or
// run one in the sandbox of a test runner.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createContext, runInContext } from 'node:vm'
import { build } from 'esbuild'
import tsconfig from '../../tsconfig.json' with { type: 'json' }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The library by its public names. */
const ALIAS = Object.fromEntries(
  Object.entries(tsconfig.compilerOptions.paths).map(([name, [file = '']]) => [name, join(ROOT, file)]),
)

/** The globals that a sandbox gets from outside: all that are not part of the language. */
const SHARED = [
  'AbortController',
  'AbortSignal',
  'ArrayBuffer',
  'Buffer',
  'Event',
  'EventTarget',
  'TextDecoder',
  'TextEncoder',
  'URL',
  'Uint8Array',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
] as const

export interface CopyOptions {
  /** Shortens names, those of classes among them. */
  minify?: boolean
}

/** The exports of `contents`, as a CommonJS module with all its imports in it. */
export async function loadCopy<Exports>(contents: string, options: CopyOptions = {}): Promise<Exports> {
  return withBundle(contents, options, (file) => createRequire(import.meta.url)(file))
}

/**
 * The same in a realm of its own, as in the sandbox of a test runner: its `Error`, `Date` and `Promise` differ from
 * those of the modules of Node.
 */
export async function loadInSandbox<Exports>(contents: string): Promise<Exports> {
  const text = await withBundle(contents, {}, (file) => readFile(file, 'utf8'))
  const sandbox = createContext(
    Object.fromEntries(SHARED.map((name) => [name, Reflect.get(globalThis, name)])),
  )
  const module = { exports: {} }
  const load = runInContext(`(function (module, exports, require) {${text}\n})`, sandbox)
  load(module, module.exports, createRequire(import.meta.url))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the caller knows what it has written
  return module.exports as Exports
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
