import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './command.mjs'
import { checkScripts } from './lua-check.mjs'
import { root } from './node-version.mjs'

const FOLDER = 'examples/replace-watch/redis'
const EXAMPLE = ['tools/perilune.ts', 'generate', FOLDER, '--out', `${FOLDER}.ts`]

/** Each resolves to `{ code, output }` as `run` does. */
export const checks = [
  // Each checker looks at the types of the clients once for itself.
  { name: 'types', check: () => tool('tsc', '-p', '.', '--checkers', '1') },
  { name: 'lint', check: () => tool('oxlint', '--type-aware') },
  { name: 'format', check: () => tool('biome', 'format', '.') },
  { name: 'format of Lua', check: () => tool('stylua', '--check', 'lua', 'test/conformance', 'examples') },
  { name: 'built scripts (luacheck)', check: checkScripts },
  { name: 'generated files are up to date', check: () => tool('tsx', 'tools/generate.ts', '--check') },
  { name: 'module of the example is up to date', check: () => tool('tsx', ...EXAMPLE, '--check') },
  { name: 'docs and vectors', check: checkDocs },
]

export const packageChecks = [
  { name: 'package (publint)', check: () => tool('publint', '--strict') },
  // Node loads an ES module with `require` (docs/decisions/0109-one-build.md), of which attw does not know yet.
  {
    name: 'package types (attw)',
    check: () => tool('attw', '--pack', '.', '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm'),
  },
]

function tool(name, ...args) {
  return run(join(root, 'node_modules/.bin', name), args)
}

async function checkDocs() {
  if (!existsSync(join(root, 'tools/check-docs.ts'))) return { code: 0, output: '' }
  return tool('tsx', 'tools/check-docs.ts')
}
