// `npm run test:long`: the soaks, models and fault tests at their full counts. Writes what they found to
// docs/proof/long-run.md, to be committed. `--page NAME FILE …` runs these files instead of all, and writes
// docs/proof/NAME.md; `--add NAME FILE …` adds to that page: a long run in parts, each with a PERILUNE_SEED of its own.
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
const { build } = await import('./setup/build.mjs')
const { runVitest } = await import('./setup/run-vitest.mjs')

await orExplain(async () => {
  await install()
  await ensurePrograms('redis', 'postgres', 'mariadb', 'luacheck', 'pythonRedis', 'zaqarClient', 'sqlite')
  await build()
})

const folder = mkdtempSync(join(tmpdir(), 'perilune-long-'))
const proof = join(folder, 'proof.txt')
const run = toRun(process.argv.slice(2))
const counted = await runVitest(run.files, { PERILUNE_LONG: '1', PERILUNE_PROOF: proof })
const recorded = existsSync(proof) ? readFileSync(proof, 'utf8').trimEnd().split('\n') : []
rmSync(folder, { recursive: true, force: true })
writeSummary()
console.log(`${counted.passed} passed, ${counted.failed} failed`)
process.exitCode = counted.failed === 0 ? 0 : 1

/** Throws when files are named without a page: what is proved of some would replace what is proved of all. */
function toRun([option, page, ...files]) {
  if (option === undefined)
    return { page: 'long-run', files: ['test/faults', 'test/models', 'test/conformance'], before: '' }
  if ((option === '--page' || option === '--add') && /^[a-z-]+$/.test(page ?? '') && files.length > 0)
    return { page, files, option, before: option === '--add' ? pageOf(page) : '' }
  throw new Error('say: npm run test:long [-- --page NAME FILE …], or --add NAME FILE … to add to a page')
}

function pathOf(page) {
  return join(root, `docs/proof/${page}.md`)
}

function pageOf(page) {
  return existsSync(pathOf(page)) ? readFileSync(pathOf(page), 'utf8') : ''
}

function writeSummary() {
  const { page, files, option, before } = run
  const [, passed = 0, failed = 0] = before.match(/^- (\d+) passed, (\d+) failed$/m) ?? []
  const [, linesBefore = ''] = before.match(/^```\n([^]*?)\n```$/m) ?? []
  const redis = execFileSync('redis-server', ['--version'], { encoding: 'utf8' }).match(/v=(\S+)/)?.[1]
  const lines = [
    page === 'long-run' ? '# The last long run' : `# The last long run: ${page}`,
    '',
    'Written by `npm run test:long`, which runs the soaks, models and fault tests at their full counts.',
    '',
    `- command: \`npm run test:long${page === 'long-run' ? '' : ` -- ${option} ${page} ${files.join(' ')}`}\``,
    `- Node ${process.version}, Redis ${redis}`,
    `- ${Number(passed) + counted.passed} passed, ${Number(failed) + counted.failed} failed`,
    '',
    '```',
    ...[...linesBefore.split('\n').filter((line) => line !== ''), ...recorded].toSorted(),
    '```',
    '',
  ]
  mkdirSync(join(root, 'docs/proof'), { recursive: true })
  writeFileSync(pathOf(page), lines.join('\n'))
}
