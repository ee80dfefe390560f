// The TypeScript blocks of the docs. Every ```ts block compiles unchanged; ```ts run blocks are run
// as well (test/docs); ```ts fragment blocks are neither.

import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeModules } from './modules.ts'
import { blocksOf, pagesIn, textOf } from './pages.ts'

export interface Snippet {
  readonly page: string
  readonly line: number
  readonly text: string
  readonly run: boolean
}

// What a snippet may use without making it: the words of every page.
const SURROUNDINGS = `import type { Perilune } from 'perilune'
declare global {
  const redis: Perilune
  const client: { disconnect(): void }
  const shutdown: AbortSignal
}
`
// What a snippet may import as `./redis.ts`: a module written by `perilune generate`.
const GENERATED = 'examples/replace-watch/redis.ts'
const CONFIG = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    isolatedDeclarations: false,
    noUnusedLocals: false,
    noUnusedParameters: false,
    noPropertyAccessFromIndexSignature: false,
  },
  include: ['*.ts'],
  exclude: [],
}

/** The snippets of README, docs, lua and examples. */
export function snippetsIn(root: string): Snippet[] {
  const pages = pagesIn(root).filter((page) =>
    /^(?:README\.md|docs\/.*|lua\/README\.md|examples\/.*README\.md)$/.test(page),
  )
  return pages.flatMap((page) =>
    blocksOf(textOf(root, page))
      .filter(({ info }) => /^ts(?: run)?$/.test(info))
      .map(({ info, line, text }) => ({ page, line, text, run: info === 'ts run' })),
  )
}

/** What does not compile, as `page:line problem`. */
export function checkSnippets(root: string): string[] {
  const snippets = snippetsIn(root)
  if (snippets.length === 0) return []
  return inFolder(root, (folder) => {
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(CONFIG))
    writeFileSync(join(folder, 'surroundings.d.ts'), SURROUNDINGS)
    const refused = writeModules(root, folder)
    writeGenerated(root, folder)
    const pages = new Map(snippets.map((snippet) => [writeSnippet(folder, snippet), snippet.page]))
    return [...refused, ...inPages(compile(root, folder), pages)]
  })
}

/** Writes a snippet as a module whose lines have the numbers of its page; the name of the file. */
export function writeSnippet(folder: string, { page, line, text }: Snippet): string {
  const file = `${page.replaceAll(/[^A-Za-z0-9-]/g, '_')}_${line}.ts`
  writeFileSync(join(folder, file), `${'\n'.repeat(line - 1)}${text}\nexport {}\n`)
  return file
}

function writeGenerated(root: string, folder: string): void {
  cpSync(join(root, GENERATED), join(folder, 'redis.ts'))
}

/** Gives a temporary folder, inside the project so that imports resolve as they do for its users. */
function inFolder<Result>(root: string, use: (folder: string) => Result): Result {
  mkdirSync(join(root, '.perilune'), { recursive: true })
  const folder = mkdtempSync(join(root, '.perilune', 'docs-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function compile(root: string, folder: string): string {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', '.', '--pretty', 'false'], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status === null || (status !== 0 && stdout === '')) throw new Error(`tsc did not run: ${stderr}`)
  return stdout
}

function inPages(output: string, pages: ReadonlyMap<string, string>): string[] {
  return output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) =>
      line.replace(
        /^(\S+?)\((\d+),\d+\): error/,
        (_, file: string, at) => `${pages.get(file) ?? file}:${at}`,
      ),
    )
}
