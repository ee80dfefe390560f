import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { mustRun } from './command.mjs'
import { root } from './node-version.mjs'
import { fingerprint, isStamped, stamp } from './stamp.mjs'

const BUILT_WITH = ['package-lock.json', 'package.json', 'tsconfig.json']

const TARGETS = [
  {
    name: 'library',
    folder: '.',
    result: 'dist/index.mjs',
    sources: ['src', 'tsdown.config.ts', 'tools/perilune.ts', 'tools/command', 'tools/contract'],
  },
  { name: 'service', folder: 'server', result: 'server/dist/main.mjs', sources: ['server'] },
]

/** Builds what has changed since the last time. */
export async function build() {
  for (const target of TARGETS) await buildTarget(target)
}

async function buildTarget({ name, folder, result, sources }) {
  const state = fingerprint([...BUILT_WITH, ...sources])
  if (isStamped(`build-${name}`, state) && existsSync(join(root, result))) return
  console.log(`building the ${name}`)
  const tsdown = join(root, 'node_modules/tsdown/dist/run.mjs')
  await mustRun('building', process.execPath, [tsdown], { cwd: join(root, folder) })
  stamp(`build-${name}`, state)
}
