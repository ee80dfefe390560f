import { join } from 'node:path'
import { expect, test } from 'vitest'
import { envFor, merged, roundOf } from './cell.ts'

const root = join(import.meta.dirname, '../..')

function fileWith(name: string, status: string, tests: Readonly<Record<string, string>>): object {
  const assertionResults = Object.entries(tests).map(([fullName, each]) => ({ fullName, status: each }))
  return { name: join(root, name), status, assertionResults }
}

function reportOf(numPassedTests: number, ...testResults: object[]): Parameters<typeof roundOf>[0] {
  return { numPassedTests, testResults } as Parameters<typeof roundOf>[0]
}

test('a red test is named with its file', () => {
  const report = reportOf(1, fileWith('src/a.test.ts', 'failed', { one: 'passed', two: 'failed' }))

  expect(roundOf(report, 1, '')).toEqual({
    passed: 1,
    reds: ['src/a.test.ts: two'],
    files: ['src/a.test.ts'],
  })
})

test('a file that fails without a red test is red', () => {
  const report = reportOf(1, fileWith('src/a.test.ts', 'failed', { one: 'passed' }))

  expect(roundOf(report, 1, '').reds).toEqual(['src/a.test.ts, before or after its tests'])
})

test.each([
  ['crashed', null, 1],
  ['failed after green tests', reportOf(3), 1],
  ['ran nothing', reportOf(0), 0],
])('a run that %s is red', (_, report, code) => {
  expect(roundOf(report, code, 'much\nthe last line\n').reds).toEqual(['the runner: the last line'])
})

test('a test that passes the second time has passed, and is named', () => {
  const first = { passed: 5, reds: ['a: one', 'a: two'] }

  expect(merged(first, { reds: ['a: two'] })).toEqual({ passed: 6, reds: ['a: two'], unsteady: ['a: one'] })
})

test('the tests find the programs of the server first, and play the rows that were asked for', () => {
  expect(envFor({ PATH: '/usr/bin', CI: 'true', HOME: '/h' }, '/server/bin', 'some')).toEqual({
    PATH: '/server/bin:/usr/bin',
    HOME: '/h',
    PERILUNE_ROWS: 'some',
  })
})
