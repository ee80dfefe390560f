// `npm run test:long`: the soaks, models and fault tests at their full counts. Writes what they found to
// docs/proof/long-run.md, to be committed.
import { requireNode } from './setup/node-version.mjs'

requireNode()

const { spawn, execFileSync } = await import('node:child_process')
const { once } = await import('node:events')
const { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = await import('node:fs')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
const { root } = await import('./setup/node-version.mjs')
const { orExplain } = await import('./setup/command.mjs')
const { install } = await import('./setup/install.mjs')
const { ensurePrograms } = await import('./setup/machine.mjs')
const { totals } = await import('./setup/totals.mjs')

await orExplain(async () => {
  await install()
  await ensurePrograms('redis', 'luacheck', 'pythonRedis')
})

const folder = mkdtempSync(join(tmpdir(), 'perilune-long-'))
const [report, proof] = [join(folder, 'report.json'), join(folder, 'proof.txt')]
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const files = ['test/faults', 'test/models', 'test/conformance']
const runner = spawn(
  process.execPath,
  [vitest, 'run', ...files, '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PERILUNE_LONG: '1', PERILUNE_PROOF: proof },
  },
)
const [exitCode] = await once(runner, 'close')
const { passed, failed } = totals(report, exitCode)
const told = existsSync(proof) ? readFileSync(proof, 'utf8').trimEnd().split('\n') : []
rmSync(folder, { recursive: true, force: true })
writeSummary()
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function writeSummary() {
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=(\S+)/)?.[1]
  const lines = [
    '# The last long run',
    '',
    'Written by `npm run test:long`, which runs the soaks, models and fault tests at their full counts.',
    '',
    `- Node ${process.version}, Redis ${redis}`,
    `- ${passed} passed, ${failed} failed`,
    '',
    '```',
    ...told.toSorted(),
    '```',
    '',
  ]
  mkdirSync(join(root, 'docs/proof'), { recursive: true })
  writeFileSync(join(root, 'docs/proof/long-run.md'), lines.join('\n'))
}
