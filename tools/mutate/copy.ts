// A copy of the project, in which mutants live; the project itself stays as it is.

import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { applied, type Mutant } from './mutant.ts'
import { runNode } from './program.ts'

const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.perilune', '.scratch', '__pycache__'])
const LIMIT_MS = 300_000
const GENERATE = ['--import', 'tsx', 'tools/generate.ts']
const BUILD = ['node_modules/tsdown/dist/run.mjs']

export interface Copy {
  readonly root: string
  /** Puts the mutant in its place, and writes what follows from it. What the compiler says against it, or null. */
  put(mutant: Mutant): Promise<string | null>
  /** Everything as it was. */
  restore(mutant: Mutant): Promise<void>
  remove(): void
}

/** Throws when the project cannot be built. */
export async function copyOf(project: string): Promise<Copy> {
  const root = mkdtempSync(join(tmpdir(), 'perilune-mutate-'))
  cpSync(project, root, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) })
  for (const folder of ['', 'server']) link(join(project, folder), join(root, folder))
  const flaw = await run(BUILD, root)
  if (flaw !== null) throw new Error(`the copy cannot be built: ${flaw}`)
  const change = async (file: string, text: string): Promise<string | null> => {
    writeFileSync(join(root, file), text)
    const refusal = file.startsWith('lua/') ? await run(GENERATE, root) : null
    // Tests start programs that stand on the built library.
    return refusal ?? run(BUILD, root)
  }
  const original = (file: string): string => readFileSync(join(project, file), 'utf8')
  return {
    root,
    put: (mutant) => change(mutant.file, applied(original(mutant.file), mutant)),
    restore: async ({ file }) => void (await change(file, original(file))),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}

/** A folder of links, and no link to a folder: what tests build in it has to stand on the library of the copy. */
function link(from: string, to: string): void {
  const modules = join(from, 'node_modules')
  if (!existsSync(modules)) return
  mkdirSync(join(to, 'node_modules'))
  for (const name of readdirSync(modules)) {
    const path = join(modules, name)
    const target = lstatSync(path).isSymbolicLink() ? readlinkSync(path) : path
    if (name !== '.cache') symlinkSync(target, join(to, 'node_modules', name))
  }
}

/** What it says when it fails; null otherwise. */
async function run(program: readonly string[], root: string): Promise<string | null> {
  const { code, output } = await runNode(program, root, LIMIT_MS)
  return code === 0 ? null : (output.trim().split('\n')[0] ?? '')
}
