// One suite on one server.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { runNode } from '../mutate/program.ts'
import type { Server } from './server.ts'

export interface Outcome {
  readonly passed: number
  /** File and title of each test that failed twice, or what else went wrong. */
  readonly reds: readonly string[]
  /** Those that failed beside all others, and passed alone. */
  readonly unsteady: readonly string[]
}

interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

interface Round {
  readonly passed: number
  readonly reds: readonly string[]
  readonly files: readonly string[]
}

const root = join(import.meta.dirname, '../..')
const LIMIT_MS = 2_400_000
/** With more red files than these it is no matter of load. */
const MOST_AGAIN = 10

export async function runCell(server: Server, filters: readonly string[], rows: string): Promise<Outcome> {
  const env = envFor(process.env, server.bin, rows)
  const first = await runOnce(filters, env)
  if (first.files.length === 0 || first.files.length > MOST_AGAIN)
    return { passed: first.passed, reds: first.reds, unsteady: [] }
  const again = await runOnce([...first.files, '--no-file-parallelism'], env)
  return merged(first, again)
}

/** What failed twice is red; what else failed in the first round is unsteady, and has passed. */
export function merged(first: Pick<Round, 'passed' | 'reds'>, again: Pick<Round, 'reds'>): Outcome {
  const unsteady = first.reds.filter((title) => !again.reds.includes(title))
  return { passed: first.passed + unsteady.length, reds: again.reds, unsteady }
}

/** `rows`: `all` rows of large tables, or `some` of them, as in `npm test`. */
export function envFor(env: NodeJS.ProcessEnv, bin: string, rows: string): NodeJS.ProcessEnv {
  const { CI: _, ...rest } = env
  return { ...rest, PATH: `${bin}:${env['PATH'] ?? ''}`, PERILUNE_ROWS: rows }
}

async function runOnce(filters: readonly string[], env: NodeJS.ProcessEnv): Promise<Round> {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-matrix-'))
  const file = join(folder, 'report.json')
  const reporting = ['--reporter=json', `--outputFile=${file}`, '--teardownTimeout=60000']
  try {
    const runner = ['node_modules/vitest/vitest.mjs', 'run', ...reporting, ...filters]
    const { code, output, overTime } = await runNode(runner, root, LIMIT_MS, env)
    if (overTime) return failure(`the runner: the limit of ${LIMIT_MS / 60_000} minutes is over`)
    return roundOf(readReport(file), code, output)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A run that crashed, or ran nothing, has failed. */
export function roundOf(report: Report | null, code: number, output: string): Round {
  const results = report?.testResults.filter(({ status }) => status === 'failed') ?? []
  const reds = results.flatMap(({ name, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const titles = failed.map(({ fullName }) => `${relative(root, name)}: ${fullName}`)
    return titles.length > 0 ? titles : [`${relative(root, name)}, before or after its tests`]
  })
  const passed = report?.numPassedTests ?? 0
  if (reds.length > 0) return { passed, reds, files: results.map(({ name }) => relative(root, name)) }
  if (code === 0 && passed > 0) return { passed, reds, files: [] }
  return { ...failure(`the runner: ${output.trim().split('\n').at(-1) ?? ''}`), passed }
}

function failure(red: string): Round {
  return { passed: 0, reds: [red], files: [] }
}

function readReport(file: string): Report | null {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    return report
  } catch {
    return null
  }
}
