// What the tests say to a mutant.

import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Copy } from './copy.ts'
import { whyEquivalent } from './equivalent.ts'
import type { Mutant } from './mutant.ts'
import { folderIn, runNode } from './program.ts'
import { LEFT_OUT, NET, suitesFor } from './suites.ts'

export interface Outcome {
  readonly mutant: Mutant
  /** The first test that noticed, or what else did; null for a survivor. */
  readonly killedBy: string | null
  /** Tests that failed once and not again. */
  readonly unsteady: readonly string[]
}

/** A test that failed, or what else went wrong, and the tests that show it again; null where none do. */
interface Red {
  readonly what: string
  readonly shownBy: readonly string[] | null
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

const TYPES_LIMIT_MS = 300_000
const NEAR_LIMIT_MS = 600_000
const WHOLE_LIMIT_MS = 1_200_000

/**
 * Runs the tests on a mutant, the nearest first. The copy is as before when it is over. Throws when the test that failed
 * does so without the mutant, too: it has noticed nothing.
 */
export async function tryMutant(copy: Copy, mutant: Mutant): Promise<Outcome> {
  const unsteady: string[] = []
  const red = await redOf(copy, mutant, unsteady)
  if (red !== null && red.shownBy !== null) {
    const anyway = await failsTwice(copy, red.shownBy, [])
    if (anyway !== null) throw new Error(`fails without a mutant, too: ${anyway.what}`)
  }
  return { mutant, killedBy: red?.what ?? null, unsteady }
}

/** The first test that fails without any mutant, or null. */
export async function failsAnyway(copy: Copy): Promise<string | null> {
  return (await failsTwice(copy, [], []))?.what ?? null
}

async function redOf(copy: Copy, mutant: Mutant, unsteady: string[]): Promise<Red | null> {
  try {
    const refusal = await copy.put(mutant)
    if (refusal !== null) return { what: `the compiler: ${refusal}`, shownBy: null }
    return (await testsAgainst(copy, mutant, unsteady)) ?? (await typesAgainst(copy, mutant))
  } finally {
    await copy.restore(mutant)
  }
}

async function testsAgainst(copy: Copy, mutant: Mutant, unsteady: string[]): Promise<Red | null> {
  const suites = suitesFor(mutant.stratum)
  // Running all suites for equivalent mutants would take longer than all other mutants together.
  for (const filters of whyEquivalent(mutant) === null ? suites : suites.slice(0, 1)) {
    const red = await failsTwice(copy, filters, unsteady)
    if (red !== null) return red
  }
  return null
}

/**
 * The first test of the net that notices that a mend is taken back, or null. `own`: the files of its own tests, which are left out. Throws
 * where these do not notice it: then nothing was taken back.
 */
export async function tryNet(copy: Copy, mutant: Mutant, own: readonly string[]): Promise<string | null> {
  try {
    const refusal = await copy.put(mutant)
    if (refusal !== null) throw new Error(`cannot be taken back: ${refusal}`)
    // Without filters all tests would run.
    if (own.length > 0 && (await redsOf(copy, own)).length === 0)
      throw new Error('its own tests do not notice it')
    for (const filters of NET) {
      const red = await failsTwice(copy, filters, [], own)
      if (red !== null) return red.what
    }
    return null
  } finally {
    await copy.restore(mutant)
  }
}

// What fails by chance, on a busy machine, passes the second time; and so do tests of one file whose servers
// stopped because another file had failed.
async function failsTwice(
  copy: Copy,
  filters: readonly string[],
  unsteady: string[],
  leftOut: readonly string[] = [],
): Promise<Red | null> {
  const reds = await redsOf(copy, filters, leftOut)
  for (const red of reds) {
    if (red.shownBy === null) return red
    const [again] = await redsOf(copy, red.shownBy)
    if (again !== undefined) return again
  }
  unsteady.push(...reds.map(({ what }) => what))
  return null
}

// Behind the tests, and without what a dropped line leaves unused: the tests have to notice.
async function typesAgainst(copy: Copy, { file }: Mutant): Promise<Red | null> {
  if (!file.endsWith('.ts')) return null
  const tsc = ['node_modules/typescript/bin/tsc', '-p', '.', '--noEmit']
  const leniently = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
  const { code, output } = await runNode([...tsc, ...leniently], copy.root, TYPES_LIMIT_MS)
  return code === 0 ? null : { what: `types: ${output.trim().split('\n')[0] ?? ''}`, shownBy: null }
}

/** The first red test of each file; the run ends soon after the first. */
async function redsOf(
  copy: Copy,
  filters: readonly string[],
  leftOut: readonly string[] = [],
): Promise<Red[]> {
  const folder = folderIn(copy.root)
  const file = join(folder, 'report.json')
  const reporting = ['--bail=1', '--reporter=json', `--outputFile=${file}`, '--teardownTimeout=60000']
  const excluded = [...LEFT_OUT, ...leftOut].flatMap((pattern) => ['--exclude', pattern])
  const runner = ['node_modules/vitest/vitest.mjs', 'run', ...reporting, ...excluded, ...filters]
  const limitMs = filters.length === 0 ? WHOLE_LIMIT_MS : NEAR_LIMIT_MS
  try {
    const { code, output, overTime } = await runNode(runner, copy.root, limitMs)
    if (overTime) return [{ what: `the limit of ${limitMs / 1000} s`, shownBy: null }]
    return code === 0 ? [] : redsIn(copy.root, readReport(file), output, filters)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// A run may end red though no test does: an uncaught error, or a machine too busy to stop the servers in time.
function redsIn(root: string, report: Report | null, output: string, filters: readonly string[]): Red[] {
  const reds = (report?.testResults ?? []).flatMap(({ name, status, assertionResults }): Red[] => {
    const file = relative(root, name)
    const failed = assertionResults.find((test) => test.status === 'failed')
    if (failed) return [{ what: `${file}: ${failed.fullName}`, shownBy: [file] }]
    return status === 'failed' ? [{ what: `${file}, before its tests`, shownBy: [file] }] : []
  })
  const last = output.trim().split('\n').at(-1) ?? ''
  return reds.length > 0 ? reds : [{ what: `the runner: ${last}`, shownBy: filters }]
}

function readReport(file: string): Report | null {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    return report
  } catch {
    return null
  }
}
