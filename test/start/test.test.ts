import { expect, test } from 'vitest'
import { type Machine, setupMachine } from './machine.ts'

const REPORT = { numPassedTests: 5, numFailedTests: 0, testResults: [] as object[] }

/** A machine on which the runner writes this report and exits with this code. */
function setup(text: object | undefined = REPORT, code = 0): Machine {
  const machine = setupMachine()
  machine.write('run.json', JSON.stringify({ text, code }))
  return machine
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
  const machine = setupMachine()
  machine.write('run.json', JSON.stringify({ text: report, code: exitCode }))

  const { code, lastLine } = await machine.node('tools/test.mjs')

  expect(lastLine).toBe(total)
  expect(code).toBe(1)
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

test('a missing program that cannot be installed is one line that says what to type', async () => {
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

test('valkey-server will do', async () => {
  const machine = setupWithoutRedis()
  machine.program('valkey-server', 'exit 0')

  expect((await machine.node('tools/test.mjs')).code).toBe(0)
})

function setupWithoutRedis(): Machine {
  const machine = setup()
  machine.remove('bin/redis-server')
  return machine
}
