import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { readFolding, readNames, readVectors, STRUCTURES } from './files.ts'

const player = fileURLToPath(new URL('../../bindings/python/play_vectors.py', import.meta.url))
const total = STRUCTURES.reduce(
  (sum, structure) => sum + readVectors(structure).vectors.length,
  readNames().names.length + readFolding().texts.length,
)

const checks = fileURLToPath(new URL('../../bindings/python/check_binding.py', import.meta.url))

// Needs Debian's python3-redis; without it this fails.
function play(...args: string[]): { output: string; exitCode: number | null } {
  return run(player, args)
}

function run(program: string, args: string[]): { output: string; exitCode: number | null } {
  const { stdout, stderr, status } = spawnSync('/usr/bin/python3', [program, ...args], { encoding: 'utf8' })
  return { output: `${stdout}${stderr}`.trim(), exitCode: status }
}

const allPassed = { output: `${total} passed, 0 failed`, exitCode: 0 }

test('the Python binding plays every vector on a single server', () => {
  expect(play(`redis://127.0.0.1:${inject('redisPort')}`)).toEqual(allPassed)
})

test('the Python binding plays every vector on a cluster', () => {
  expect(play('--cluster', `redis://127.0.0.1:${inject('clusterPorts')[0]}`)).toEqual(allPassed)
})

test('the Python binding reports unsupported data, and distinguishes partition 0 from a feed without partitions', () => {
  const { output, exitCode } = run(checks, [`redis://127.0.0.1:${inject('redisPort')}`])

  expect(output).toMatch(/^Ran \d+ tests .*OK$/ms)
  expect(exitCode).toBe(0)
})
