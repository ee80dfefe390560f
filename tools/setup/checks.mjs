import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { run } from './command.mjs'
import { root } from './node-version.mjs'

/** Each resolves to `{ code, output }` as `run` does. */
export const checks = [
  { name: 'types', check: () => tool('tsc', '-p', '.') },
  { name: 'lint', check: () => tool('oxlint', '--type-aware') },
  { name: 'format', check: () => tool('biome', 'format', '.') },
  { name: 'format of Lua', check: () => tool('stylua', '--check', 'lua', 'test/conformance') },
  { name: 'built scripts (luacheck)', check: checkScripts },
  { name: 'generated files are up to date', check: () => tool('tsx', 'tools/generate.ts', '--check') },
  { name: 'snippets in the docs', check: checkDocs },
]

export const packageChecks = [
  { name: 'package (publint)', check: () => tool('publint', '--strict') },
  { name: 'package types (attw)', check: () => tool('attw', '--pack', '.') },
]

function tool(name, ...args) {
  return run(join(root, 'node_modules/.bin', name), args)
}

async function checkDocs() {
  if (!existsSync(join(root, 'tools/check-docs.ts'))) return { code: 0, output: '' }
  return tool('tsx', 'tools/check-docs.ts')
}

/** The built texts, not the files in lua/: only there are fragments and what uses them together. */
async function checkScripts() {
  const { operations } = JSON.parse(readFileSync(join(root, 'lua/contract.json'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'perilune-lua-'))
  try {
    for (const [name, { source }] of Object.entries(operations))
      writeScript(join(folder, `${name}.lua`), source)
    const options = ['--config', join(root, '.luacheckrc'), '--no-color', '--quiet']
    return await run('luacheck', [...options, '.'], { cwd: folder })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeScript(file, source) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, source)
}
