// Whether a client of node-redis would reconnect by itself: only such a client is disconnected.

import { createClient } from 'redis'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { callOf, ECHO } from '../../testing/driver-calls.ts'
import { nodeRedis } from '../node-redis.ts'
import { connectsAgain } from './client.ts'

const strategies: [string, unknown, boolean][] = [
  ['a number', 50, true],
  ['false', false, false],
  ['a function that returns a number', () => 50, true],
  ['a function that returns false', () => false, false],
  ['a function that returns an error', () => new Error('enough'), false],
  ['a function that returns nothing', () => undefined, true],
  [
    'a function that throws',
    () => {
      throw new TypeError('the cause has no code')
    },
    true,
  ],
]

test.each(strategies)('of a client whose strategy is %s', (_what, reconnectStrategy, isExpected) => {
  const client = createClient({ socket: { reconnectStrategy: reconnectStrategy as never } })

  expect(connectsAgain(client as never)).toBe(isExpected)
})

test('a client without a strategy reconnects', () => {
  expect(connectsAgain(createClient() as never)).toBe(true)
})

test('a healthy connection does not call its strategy', async () => {
  const strategy = vi.fn(() => 50)
  const client = createClient({
    socket: { host: '127.0.0.1', port: inject('redisPort'), reconnectStrategy: strategy },
  })
  await client.connect()
  onTestFinished(() => client.destroy())
  const driver = nodeRedis(client)

  await driver.run(callOf(ECHO, ['k'], [1]))
  await driver.close()

  expect(strategy).not.toHaveBeenCalled()
})
