import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { callOf, ECHO } from '../../testing/driver-calls.ts'
import { ioredis } from '../ioredis.ts'
import { reconnects } from './client.ts'

test.each([
  ['a function that returns a number', () => 50, true],
  ['a function that returns null', () => null, false],
  ['null', null, false],
])(
  'only a client that would reconnect may be disconnected: its strategy is %s',
  (_what, retryStrategy, isExpected) => {
    const client = new Redis({ lazyConnect: true, retryStrategy })
    onTestFinished(() => client.disconnect())

    expect(reconnects(client)).toBe(isExpected)
  },
)

test('a healthy connection does not call its strategy', async () => {
  const strategy = vi.fn(() => 50)
  const client = new Redis(inject('redisPort'), { retryStrategy: strategy })
  onTestFinished(() => client.disconnect())
  const driver = ioredis(client)

  await driver.run(callOf(ECHO, ['k'], [1]))
  await driver.close()

  expect(strategy).not.toHaveBeenCalled()
})
