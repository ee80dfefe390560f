import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
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
