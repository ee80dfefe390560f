import { createHash } from 'node:crypto'
import { expect, inject, onTestFinished, test } from 'vitest'
import {
  onTestClock,
  START_US,
  setTestClock,
  TEST_CLOCK,
  withTestClock,
} from '../../src/testing/test-clock.ts'
import { operationOf, scriptOf } from '../../src/testing/vector-contract.ts'
import { readContract, readText } from './files.ts'
import { onServer } from './places.ts'

const contract = readContract()
const clock = contract.clock ?? ''
const scripts = Object.keys(contract.operations).map((name) => scriptOf(name, operationOf(contract, name)))

test('the test clock of the library is the same as the one that other languages read', () => {
  expect(readText('clock.lua').trimEnd()).toBe(TEST_CLOCK)
})

test.each(scripts)(
  '$name as the vectors run it differs from the shipped script only in the clock',
  (script) => {
    const tested = onTestClock(script, clock)

    expect(tested.source.replace(TEST_CLOCK, () => clock)).toBe(script.source)
    expect(tested.sha1).toBe(createHash('sha1').update(tested.source).digest('hex'))
  },
)

test.each(scripts)('$name reads the time only by the clock of the contract', (script) => {
  expect(script.source.split(clock).length).toBeLessThanOrEqual(2)
  expect(onTestClock(script, clock).source.replace(TEST_CLOCK, '')).not.toContain("'TIME'")
})

test.each(scripts)('$name has the hash that the contract states', ({ source, sha1 }) => {
  expect(createHash('sha1').update(source).digest('hex')).toBe(sha1)
})

test('a driver on the test clock stands still until the clock is set', async () => {
  const place = onServer(inject('redisPort'))
  onTestFinished(() => place.close())
  const driver = withTestClock(place.driver, clock)
  const prefix = 'conformance:{catalog:clock test}'
  const put = operationOf(contract, 'catalog/put')
  const script = scriptOf('catalog/put', put)
  const keys = put.keys.map(({ part }) => `${prefix}:${part}`)

  await setTestClock(driver, prefix, START_US)
  const first = await driver.run({ script, keys, args: ['a', 'd'], send: 'source' })
  await setTestClock(driver, prefix, START_US + 5)
  const second = await driver.run({ script, keys, args: ['b', 'd'], send: 'source' })

  expect([first, second].map(String)).toEqual([`created,${START_US}`, `created,${START_US + 5}`])
})
