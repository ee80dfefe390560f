// `npm test`: prepares the machine, then runs the tests. Arguments go to vitest: npm test -- test/compiler
import { requireNode } from './setup/node-version.mjs'

requireNode()

const { spawn } = await import('node:child_process')
const { once } = await import('node:events')
const { mkdtempSync, rmSync } = await import('node:fs')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
const { root } = await import('./setup/node-version.mjs')
const { orExplain } = await import('./setup/command.mjs')
const { install } = await import('./setup/install.mjs')
const { ensurePrograms } = await import('./setup/machine.mjs')
const { build } = await import('./setup/build.mjs')
const { totals } = await import('./setup/totals.mjs')

await orExplain(async () => {
  await install()
  await ensurePrograms('redis', 'luacheck', 'pythonRedis')
  await build()
})

const folder = mkdtempSync(join(tmpdir(), 'perilune-report-'))
const report = join(folder, 'report.json')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const runner = spawn(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
})
const [exitCode] = await once(runner, 'close')
const { passed, failed } = totals(report, exitCode)
rmSync(folder, { recursive: true, force: true })

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
