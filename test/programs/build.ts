// Programs of tests, which run in processes of their own. They are built once for a run of the tests: from its sources each
// process would keep a processor busy for almost a second before it began.

import { mkdtemp, mkdir, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { PROGRAMS_VARIABLE } from './fork.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const PROGRAMS = [
  'test/faults/cache-worker.ts',
  'test/faults/counters-worker.ts',
  'test/faults/lock-holder.ts',
  'test/faults/once-worker.ts',
  'test/faults/queue-hoarder.ts',
  'test/faults/recurring-worker.ts',
  'test/faults/semaphore-worker.ts',
  'test/soak/feed-worker.ts',
  'test/soak/queue/party.ts',
]

/** Builds them, for `forkProgram`. Resolves to what removes them. */
export async function buildPrograms(): Promise<() => Promise<void>> {
  // Where the packages that they use are found, and a folder for each run.
  const parent = `${ROOT}node_modules/.perilune-programs`
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(`${parent}/`)
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS,
    outdir: folder,
    outbase: ROOT,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  })
  process.env[PROGRAMS_VARIABLE] = folder
  return () => rm(folder, { recursive: true })
}
