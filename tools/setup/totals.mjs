import { readFileSync } from 'node:fs'

/**
 * What a run came to, from the runner's JSON report and its exit code. `failures` are the tests that failed, with their files and seeds; what
 * failed besides them (a file that could not be loaded, a crash) counts in `failed` only.
 */
export function totals(reportFile, exitCode) {
  const report = readReport(reportFile)
  const passed = report.numPassedTests
  const failures = report.testResults.flatMap(failuresOf)
  const failed = report.numFailedTests + report.testResults.filter(failedOutsideTests).length
  // The runner fails without a failed test when it crashes, and when there is nothing to run.
  const blameless = failed === 0 && (exitCode !== 0 || passed === 0)
  return { passed, failed: blameless ? 1 : failed, failures }
}

function failuresOf({ name, assertionResults }) {
  return assertionResults
    .filter((test) => test.status === 'failed')
    .map((test) => ({ file: name, test: test.fullName, seed: seedOf(test.failureMessages ?? []) }))
}

/** With which fast-check drew what failed; null for what it did not draw. */
function seedOf(messages) {
  return /Property failed after \d+ tests\s+\{ seed: (-?\d+)/.exec(messages.join('\n'))?.[1] ?? null
}

/** A test file that could not be loaded, or whose hooks failed. */
function failedOutsideTests({ status, assertionResults }) {
  return status === 'failed' && assertionResults.every((test) => test.status !== 'failed')
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] }
  }
}
