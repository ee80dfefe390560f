// Shared by the tests of once: a once of its own for each, on a clock that stands still.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { type Once, type OnceOptions, type Perilune, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { inject, onTestFinished } from 'vitest'
import contract from '../lua/contract.json' with { type: 'json' }
import { START_US, setTestClock, withTestClock } from '../src/testing/test-clock.ts'

export interface Setup<Result> {
  once: Once<Result>
  redis: Perilune
  client: Redis
  name: string
  /** Of the keys `a` and `b`. */
  clock: { advance(ms: number): Promise<void> }
}

/** On a clock that stands still for the keys `a` and `b`; with `clock: 'real'` on the server's. */
export async function setup<Result = unknown>(
  options: OnceOptions<Result> & { clock?: 'real' } = {},
): Promise<Setup<Result>> {
  const { clock: kind, ...onceOptions } = options
  const client = new Redis(inject('redisPort'))
  const plain = ioredis(client)
  const redis = perilune(kind === 'real' ? plain : withTestClock(plain, contract.clock), {
    namespace: 'once-test',
  })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  let us = START_US
  const advance = async (ms: number): Promise<void> => {
    us += ms * 1000
    for (const key of ['a', 'b']) await setTestClock(plain, `once-test:{once:${name}:${key}}`, us)
  }
  if (kind !== 'real') await advance(0)
  return { once: redis.once<Result>(name, onceOptions), redis, client, name, clock: { advance } }
}

/** A promise and what settles it. */
export function gate(): { opened: Promise<void>; open(): void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}
