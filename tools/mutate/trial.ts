// What the tests say to a mutant.

import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Copy } from './copy.ts'
import type { Mutant } from './mutant.ts'
import { folderIn, runNode } from './program.ts'
import { LEFT_OUT, suitesFor } from './suites.ts'

export interface Outcome {
  readonly mutant: Mutant
  /** The first test that noticed, or what else did; null for a survivor. */
  readonly killedBy: string | null
  /** Tests that failed once and not again. */
  readonly unsteady: readonly string[]
}

interface Verdict {
  /** The first test that failed; null when all passed. */
  readonly red: string | null
  /** The file it is in. */
  readonly file: string | null
}

interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

const GREEN: Verdict = { red: null, file: null }
const TYPES_LIMIT_MS = 120_000
const NEAR_LIMIT_MS = 300_000
const WHOLE_LIMIT_MS = 1_200_000

/** Runs the tests on a mutant, the nearest first. The copy is as before when it is over. */
export async function tryMutant(copy: Copy, mutant: Mutant): Promise<Outcome> {
  const unsteady: string[] = []
  try {
    const refusal = await copy.put(mutant)
    if (refusal !== null) return { mutant, killedBy: `the compiler: ${refusal}`, unsteady }
    const killedBy = (await testsAgainst(copy, mutant, unsteady)) ?? (await typesAgainst(copy, mutant))
    return { mutant, killedBy, unsteady }
  } finally {
    await copy.restore(mutant)
  }
}

/** The first test that fails without any mutant, or null. */
export async function failsAnyway(copy: Copy): Promise<string | null> {
  const verdict = await judge(copy, [])
  if (verdict.file === null) return verdict.red
  return (await judge(copy, [verdict.file])).red
}

async function testsAgainst(copy: Copy, mutant: Mutant, unsteady: string[]): Promise<string | null> {
  for (const filters of suitesFor(mutant.stratum)) {
    const { red, file } = await judge(copy, filters)
    if (red === null) continue
    // Whatever fails by chance, on a busy machine, passes the second time.
    if (file === null || (await judge(copy, [file])).red !== null) return red
    unsteady.push(red)
  }
  return null
}

// Behind the tests, and without what a dropped line leaves unused: the tests have to notice.
async function typesAgainst(copy: Copy, { file }: Mutant): Promise<string | null> {
  if (!file.endsWith('.ts')) return null
  const tsc = ['node_modules/typescript/bin/tsc', '-p', '.', '--noEmit']
  const leniently = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
  const { code, output } = await runNode([...tsc, ...leniently], copy.root, TYPES_LIMIT_MS)
  return code === 0 ? null : `types: ${output.trim().split('\n')[0] ?? ''}`
}

async function judge(copy: Copy, filters: readonly string[]): Promise<Verdict> {
  const folder = folderIn(copy.root)
  const file = join(folder, 'report.json')
  const reporting = ['--bail=1', '--reporter=json', `--outputFile=${file}`]
  const excluded = LEFT_OUT.flatMap((pattern) => ['--exclude', pattern])
  const runner = ['node_modules/vitest/vitest.mjs', 'run', ...reporting, ...excluded, ...filters]
  const limitMs = filters.length === 0 ? WHOLE_LIMIT_MS : NEAR_LIMIT_MS
  try {
    const { code, output, overTime } = await runNode(runner, copy.root, limitMs)
    if (overTime) return { red: `the limit of ${limitMs / 1000} s`, file: null }
    return code === 0 ? GREEN : firstRed(copy.root, readReport(file), output)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function firstRed(root: string, report: Report | null, output: string): Verdict {
  for (const { name, status, assertionResults } of report?.testResults ?? []) {
    const file = relative(root, name)
    const failed = assertionResults.find((test) => test.status === 'failed')
    if (failed) return { red: `${file}: ${failed.fullName}`, file }
    if (status === 'failed') return { red: `${file}, before its tests`, file }
  }
  return { red: `the runner: ${output.trim().split('\n').at(-1) ?? ''}`, file: null }
}

function readReport(file: string): Report | null {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    return report
  } catch {
    return null
  }
}
