import { expect, test } from 'vitest'
import { type Machine, setupMachine } from './machine.ts'

const REPORT = { numPassedTests: 5, numFailedTests: 0, testResults: [] as object[] }

interface Run {
  readonly text: object | undefined
  readonly code: number
}

/** A machine on which the runner writes these reports, one a run, and exits with these codes. */
function setupRuns(...runs: readonly Run[]): Machine {
  const machine = setupMachine()
  machine.write('run.json', JSON.stringify(runs))
  return machine
}

function setup(): Machine {
  return setupRuns({ text: REPORT, code: 0 })
}

test('the last line is the total, and arguments reach the runner', async () => {
  const machine = setup()

  const { code, lastLine } = await machine.node('tools/test.mjs', 'test/compiler', 'src/feed')

  expect(lastLine).toBe('5 passed, 0 failed')
  expect(code).toBe(0)
  expect(machine.calls().at(-1)).toBe('vitest run test/compiler src/feed')
})

test.each([
  ['a failed test', { ...REPORT, numFailedTests: 2 }, 1, '5 passed, 2 failed'],
  [
    'a file that cannot be loaded',
    { ...REPORT, testResults: [{ status: 'failed', assertionResults: [] }] },
    1,
    '5 passed, 1 failed',
  ],
  ['an error outside of all tests', REPORT, 1, '5 passed, 1 failed'],
  ['a runner that crashed', undefined, 139, '0 passed, 1 failed'],
  ['a run without a test', { ...REPORT, numPassedTests: 0 }, 0, '0 passed, 1 failed'],
])('%s makes the run fail', async (_, report, exitCode, total) => {
  const machine = setupRuns({ text: report, code: exitCode })

  const { code, lastLine } = await machine.node('tools/test.mjs')

  expect(lastLine).toBe(total)
  expect(code).toBe(1)
})

/** A run in which so many tests of two files fail; 1: the second file cannot be loaded. */
function failing(count: number): Run {
  const tests = Array.from({ length: count }, (_, at) => ({ status: 'failed', fullName: `fails ${at}` }))
  const testResults = [
    { name: 'project/test/a.test.ts', status: 'failed', assertionResults: tests.slice(0, 1) },
    { name: 'project/test/b.test.ts', status: 'failed', assertionResults: tests.slice(1) },
  ]
  return { text: { ...REPORT, numFailedTests: count, testResults }, code: 1 }
}

test('a few failed tests run again, alone, and are reported by name when they pass then', async () => {
  const machine = setupRuns(failing(2), { text: REPORT, code: 0 })

  const { code, lastLine, output } = await machine.node('tools/test.mjs')

  expect(lastLine).toBe('7 passed, 0 failed')
  expect(code).toBe(0)
  expect(output).toMatch(/UNSTEADY: .*a\.test\.ts > fails 0\n.*UNSTEADY: .*b\.test\.ts > fails 1\n/)
  expect(machine.calls().at(-1)).toMatch(/^vitest run \S*a\.test\.ts \S*b\.test\.ts$/)
})

test('random values are the same when their test runs again', async () => {
  const drawn = {
    status: 'failed',
    fullName: 'draws',
    failureMessages: ['Error: Property failed after 341 tests\n{ seed: -1446294676, path: "340:1" }'],
  }
  const testResults = [{ name: 'project/test/a.test.ts', status: 'failed', assertionResults: [drawn] }]
  const first = { text: { ...REPORT, numFailedTests: 1, testResults }, code: 1 }
  const machine = setupRuns(first, { text: REPORT, code: 0 })

  await machine.node('tools/test.mjs')

  expect(machine.calls().at(-1)).toMatch(/^vitest run \S*a\.test\.ts drawn=-1446294676$/)
})

test.each([
  ['fails again', [failing(2), failing(2)], 2],
  ['fails with too many others', [failing(4), { text: REPORT, code: 0 }], 1],
  ['fails beside a file that cannot be loaded', [failing(1), { text: REPORT, code: 0 }], 1],
])('a test that %s makes the run fail', async (_, runs, times) => {
  const machine = setupRuns(...runs)

  const { code } = await machine.node('tools/test.mjs')

  expect(code).toBe(1)
  expect(machine.calls().filter((call) => call.startsWith('vitest'))).toHaveLength(times)
})

test('tests that were requested by name run once', async () => {
  const machine = setupRuns(failing(2), { text: REPORT, code: 0 })

  const { code } = await machine.node('tools/test.mjs', 'test/a.test.ts')

  expect(code).toBe(1)
  expect(machine.calls().filter((call) => call.startsWith('vitest'))).toHaveLength(1)
})

test('a missing program is installed with apt-get, without starting its service', async () => {
  const machine = setupWithoutRedis()
  machine.program('sudo', '[ "$1" = -n ] && shift; exec "$@"')
  machine.program(
    'apt-get',
    `here="\${0%/*}"
echo "apt-get $* RUNLEVEL=$RUNLEVEL" >>"$here/../calls"
[ "$1" = update ] || { echo '#!/bin/sh' >"$here/redis-server"; chmod +x "$here/redis-server"; }`,
  )

  const { code } = await machine.node('tools/test.mjs')

  expect(code).toBe(0)
  expect(machine.calls().filter((call) => call.startsWith('apt-get'))).toEqual([
    'apt-get update RUNLEVEL=1',
    'apt-get install -y --no-install-recommends redis-server RUNLEVEL=1',
  ])
})

test('a missing program is installed with brew where there is no apt-get', async () => {
  const machine = setupWithoutRedis()
  machine.program('brew', 'echo "brew $*" >>"${0%/*}/../calls"; cp "$0" "${0%/*}/redis-server"')

  const { code } = await machine.node('tools/test.mjs')

  expect(code).toBe(0)
  expect(machine.calls()).toContain('brew install redis')
})

test('a missing program that cannot be installed is one line with the command to type', async () => {
  const machine = setupWithoutRedis()

  const { code, lastLine } = await machine.node('tools/test.mjs')

  expect(code).toBe(1)
  expect(lastLine).toBe(
    'the tests need redis-server; please type: sudo apt-get install redis-server   or: brew install redis',
  )
})

test('an installation that brings no program is a failure', async () => {
  const machine = setupWithoutRedis()
  machine.program('brew', 'exit 0')

  const { code, lastLine } = await machine.node('tools/test.mjs')

  expect(code).toBe(1)
  expect(lastLine).toContain('the tests need redis-server')
})

test('valkey-server is accepted', async () => {
  const machine = setupWithoutRedis()
  machine.program('valkey-server', 'exit 0')

  expect((await machine.node('tools/test.mjs')).code).toBe(0)
})

function setupWithoutRedis(): Machine {
  const machine = setup()
  machine.remove('bin/redis-server')
  return machine
}
