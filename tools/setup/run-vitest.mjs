// Runs vitest with visible progress, and counts what its JSON report says.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './node-version.mjs'
import { totals } from './totals.mjs'

/** Resolves to `{ passed, failed }`; a run that crashed, or ran nothing, has failed. */
export async function runVitest(words, env = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'perilune-report-'))
  const report = join(folder, 'report.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const runner = spawn(process.execPath, [vitest, 'run', ...reporters, ...words], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  })
  const [exitCode] = await once(runner, 'close')
  const counted = totals(report, exitCode)
  rmSync(folder, { recursive: true, force: true })
  return counted
}
