// Programs that tests run in processes of their own. They are built once for a run of the tests: from its sources each
// process would keep a processor busy for one to four seconds before it began.

import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { PROGRAMS_VARIABLE } from './fork.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const PROGRAMS = [
  'server/main.ts',
  'test/audit/user.ts',
  'test/faults/cache-worker.ts',
  'test/faults/closing-process.ts',
  'test/faults/counters-worker.ts',
  'test/faults/first-calls.ts',
  'test/faults/lock-holder.ts',
  'test/faults/once-worker.ts',
  'test/faults/queue-hoarder.ts',
  'test/faults/recurring-worker.ts',
  'test/faults/semaphore-worker.ts',
  'test/faults/suspended-holder.ts',
  'test/fire/worker.ts',
  'test/soak/feed-worker.ts',
  'test/soak/queue/party.ts',
  'tools/generate.ts',
  'tools/perilune.ts',
]

/** To load their hundreds of files takes a process longer than all else that it loads. */
const BUNDLED = new Set(['@fastify/type-provider-typebox', 'ioredis', 'mysql2', 'pg', 'redis', 'typebox'])

/** A program finds the files next to its source, wherever it is built to. */
const besideItsSource: Plugin = {
  name: 'beside-its-source',
  setup(plugin) {
    plugin.onLoad({ filter: /\/(?:examples|tools)\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const url = JSON.stringify(pathToFileURL(path).href)
      const folder = JSON.stringify(dirname(path))
      const contents = text
        .replaceAll('import.meta.url', () => url)
        .replaceAll('import.meta.dirname', () => folder)
      return { contents, loader: 'ts' }
    })
  },
}

/** Packages in it may be CommonJS. */
const REQUIRE = `import { createRequire as requireFor } from 'node:module'; const require = requireFor(import.meta.url);`

const OPTIONS = {
  banner: { js: REQUIRE },
  absWorkingDir: ROOT,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  external: await packages(),
  format: 'esm',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  plugins: [besideItsSource],
} as const satisfies BuildOptions

/** Modules that programs load from their installation. */
async function packages(): Promise<string[]> {
  const names = await Promise.all(
    ['package.json', 'server/package.json'].map(async (file) => {
      const { dependencies, devDependencies } = JSON.parse(await readFile(ROOT + file, 'utf8'))
      return Object.keys({ ...dependencies, ...devDependencies })
    }),
  )
  return names.flat().filter((name) => !BUNDLED.has(name))
}

async function examples(): Promise<string[]> {
  const files = await readdir(`${ROOT}examples`, { recursive: true })
  return files.filter((file) => file.endsWith('.ts')).map((file) => `examples/${file}`)
}

/** Builds them, for `forkProgram` and `commandOf`. Resolves to what removes them. */
export async function buildPrograms(): Promise<() => Promise<void>> {
  // The folder of the packages that they use, and a folder for each run.
  const parent = `${ROOT}node_modules/.perilune-programs`
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(`${parent}/`)
  const entryPoints = [...PROGRAMS, ...(await examples())]
  await build({ ...OPTIONS, entryPoints, outdir: folder, outbase: ROOT })
  process.env[PROGRAMS_VARIABLE] = folder
  return () => rm(folder, { recursive: true })
}

/** Builds a program of one test, a file in the project, next to its source; resolves to the file to run. */
export async function buildBeside(source: string): Promise<string> {
  await build({ ...OPTIONS, entryPoints: [source], outdir: dirname(source) })
  return source.replace(/\.ts$/, '.mjs')
}
