// A copy of the project, in which mutants live; the project itself stays as it is.

import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { applied, type Mutant } from './mutant.ts'
import { runNode } from './program.ts'

const LEFT_OUT = new Set(['node_modules', 'dist', '.git', '.perilune', '.scratch', '__pycache__'])
const GENERATE_LIMIT_MS = 60_000

export interface Copy {
  readonly root: string
  /** Puts the mutant in its place, and writes what follows from it. What the compiler says against it, or null. */
  put(mutant: Mutant): Promise<string | null>
  /** Everything as it was. */
  restore(mutant: Mutant): Promise<void>
  remove(): void
}

export function copyOf(project: string): Copy {
  const root = mkdtempSync(join(tmpdir(), 'perilune-mutate-'))
  cpSync(project, root, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) })
  for (const folder of ['', 'server']) link(join(project, folder), join(root, folder))
  const change = (file: string, text: string): Promise<string | null> => {
    writeFileSync(join(root, file), text)
    return file.startsWith('lua/') ? generate(root) : Promise.resolve(null)
  }
  const original = (file: string): string => readFileSync(join(project, file), 'utf8')
  return {
    root,
    put: (mutant) => change(mutant.file, applied(original(mutant.file), mutant)),
    restore: async ({ file }) => void (await change(file, original(file))),
    remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }),
  }
}

function link(from: string, to: string): void {
  const modules = join(from, 'node_modules')
  if (existsSync(modules)) symlinkSync(modules, join(to, 'node_modules'))
}

async function generate(root: string): Promise<string | null> {
  const { code, output } = await runNode(['--import', 'tsx', 'tools/generate.ts'], root, GENERATE_LIMIT_MS)
  return code === 0 ? null : (output.trim().split('\n')[0] ?? '')
}
