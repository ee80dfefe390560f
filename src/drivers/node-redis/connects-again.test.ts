// Whether a client of node-redis would reconnect by itself: only such a client is disconnected.

import { createClient } from 'redis'
import { expect, test } from 'vitest'
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
