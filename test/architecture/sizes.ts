// How long files and functions are, without blank lines and comments.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export interface Measured {
  /** `src/feed/feed.ts:96`. */
  readonly place: string
  readonly lines: number
}

interface Report {
  diagnostics: { message: string; filename: string; labels: { span: { line: number } }[] }[]
}

/** The lines of every function in these folders of the project. */
export function measureFunctions(root: string, folders: readonly string[]): Measured[] {
  return diagnose(root, folders, 'max-lines-per-function').map(measured)
}

/** The lines of every TypeScript file in these folders. */
export function measureFiles(root: string, folders: readonly string[]): Measured[] {
  return diagnose(root, folders, 'max-lines').map(measured)
}

/** The lines of an operation behind its head and declarations. */
export function linesOfOperation(source: string): number {
  const body = source.replace(/^--\[\[[^]*?\]\]\n/, '')
  return body.split('\n').filter((line) => line.trim() !== '' && !isDeclaration(line)).length
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0
}

function isDeclaration(line: string): boolean {
  return /^local .*\b(?:KEYS|ARGV)\b/.test(line) || line.startsWith('--')
}

// The linter counts for us: with a limit of nought it names every function and every file.
function diagnose(root: string, folders: readonly string[], rule: string): Report['diagnostics'] {
  const directory = mkdtempSync(join(tmpdir(), 'perilune-sizes-'))
  const config = join(directory, 'oxlint.json')
  const terms = { max: 0, skipBlankLines: true, skipComments: true }
  const rules = { [rule]: ['error', terms] }
  writeFileSync(config, JSON.stringify({ plugins: [], categories: { correctness: 'off' }, rules }))
  try {
    const out = lint(root, ['-c', config, '--format', 'json', ...folders])
    const report: Report = JSON.parse(out)
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

function measured({ message, filename, labels }: Report['diagnostics'][number]): Measured {
  const lines = Number(/\((\d+)\)/.exec(message)?.[1])
  return { place: `${filename}:${labels[0]?.span.line ?? 1}`, lines }
}
