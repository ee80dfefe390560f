// `npm run test:long`: the soaks, models and fault tests at their full counts. Writes what they found to
// docs/proof/long-run.md, to be committed. Arguments name the files to run instead of all of them.
import { requireNode } from './setup/node-version.mjs'

requireNode()

const { execFileSync } = await import('node:child_process')
const { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } = await import('node:fs')
const { tmpdir } = await import('node:os')
const { join } = await import('node:path')
const { root } = await import('./setup/node-version.mjs')
const { orExplain } = await import('./setup/command.mjs')
const { install } = await import('./setup/install.mjs')
const { ensurePrograms } = await import('./setup/machine.mjs')
const { runVitest } = await import('./setup/run-vitest.mjs')

await orExplain(async () => {
  await install()
  await ensurePrograms('redis', 'postgres', 'mariadb', 'luacheck', 'pythonRedis', 'zaqarClient', 'sqlite')
})

const folder = mkdtempSync(join(tmpdir(), 'perilune-long-'))
const proof = join(folder, 'proof.txt')
const named = process.argv.slice(2)
const files = named.length > 0 ? named : ['test/faults', 'test/models', 'test/conformance']
const counted = await runVitest(files, { PERILUNE_LONG: '1', PERILUNE_PROOF: proof })
const told = existsSync(proof) ? readFileSync(proof, 'utf8').trimEnd().split('\n') : []
rmSync(folder, { recursive: true, force: true })
writeSummary()
console.log(`${counted.passed} passed, ${counted.failed} failed`)
process.exitCode = counted.failed === 0 ? 0 : 1

function writeSummary() {
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=(\S+)/)?.[1]
  const lines = [
    '# The last long run',
    '',
    'Written by `npm run test:long`, which runs the soaks, models and fault tests at their full counts.',
    '',
    `- command: \`npm run test:long${named.length > 0 ? ` -- ${named.join(' ')}` : ''}\``,
    `- Node ${process.version}, Redis ${redis}`,
    `- ${counted.passed} passed, ${counted.failed} failed`,
    '',
    '```',
    ...told.toSorted(),
    '```',
    '',
  ]
  mkdirSync(join(root, 'docs/proof'), { recursive: true })
  writeFileSync(join(root, 'docs/proof/long-run.md'), lines.join('\n'))
}
