// How long TypeScript files and functions are. The linter counts for us: with a limit of nought it names every
// file and every function.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface Measured {
  /** Path from the root of the project. */
  readonly file: string
  /** The line on which it begins. */
  readonly line: number
  readonly lines: number
}

/** What is left out when lines are counted. */
export type Without = 'nothing' | 'blank lines' | 'blank lines and comments'

/** Every function in these folders that has a name: methods and constants too, but no callback. */
export function measureFunctions(root: string, folders: readonly string[]): Measured[] {
  const isCallback = ({ message }: Diagnostic): boolean => /^The (?:async )?function has/.test(message)
  return diagnose(root, folders, 'max-lines-per-function', 'nothing')
    .filter((found) => !isCallback(found))
    .map(measured)
}

/** Every TypeScript file in these folders. */
export function measureFiles(root: string, folders: readonly string[], without: Without): Measured[] {
  return diagnose(root, folders, 'max-lines', without).map((found) => ({ ...measured(found), line: 1 }))
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0
}

interface Diagnostic {
  readonly message: string
  readonly filename: string
  readonly labels: readonly { readonly span: { readonly line: number } }[]
}

function diagnose(root: string, folders: readonly string[], rule: string, without: Without): Diagnostic[] {
  const directory = mkdtempSync(join(tmpdir(), 'perilune-lines-'))
  const config = join(directory, 'oxlint.json')
  const skipComments = without === 'blank lines and comments'
  const terms = { max: 0, skipBlankLines: without !== 'nothing', skipComments }
  const rules = { [rule]: ['error', terms] }
  writeFileSync(config, JSON.stringify({ plugins: [], categories: { correctness: 'off' }, rules }))
  try {
    const report: { diagnostics: Diagnostic[] } = JSON.parse(
      lint(root, ['-c', config, '--format', 'json', ...folders]),
    )
    return report.diagnostics
  } finally {
    rmSync(directory, { recursive: true })
  }
}

// It ends with 1 whenever it finds something, which is always.
function lint(root: string, options: readonly string[]): string {
  const program = join(dirname(createRequire(import.meta.url).resolve('oxlint')), '../bin/oxlint')
  const room = { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...options], room)
  if (stdout === '') throw new Error(`the linter said nothing: ${stderr}`)
  return stdout
}

function measured({ message, filename, labels }: Diagnostic): Measured {
  const lines = Number(/\((\d+)\)/.exec(message)?.[1])
  return { file: filename, line: labels[0]?.span.line ?? 1, lines }
}
