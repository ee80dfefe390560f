// A worker whose user lacks a right for jobs that are due looks again after a second: it must not poll all the time.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { usersOn } from '../../../test/rights-fixture.ts'
import { openSource } from '../sources.ts'
import { exchange } from './exchange.ts'

test.each([
  ['-lpop', 1000],
  ['+lpop', 0],
])(
  'with %s the answer to a claim of a job that is due says to look again after %i ms at least',
  async (rule, least) => {
    const port = inject('redisPort')
    const admin = new Redis(port)
    onTestFinished(() => admin.disconnect())
    const { allow, limited, full, name } = usersOn(port, admin)
    await allow(rule)
    await full().queue(name).enqueue('mail', 0, { delay: '5ms' })
    await sleep(20)

    const source = openSource(limited().runtime, name, {}, null)
    const answer = await exchange(source, { acks: [], limit: 1, leaseMs: 30_000, worker: 'w.1:30000' })

    expect(answer.jobs).toHaveLength(least === 0 ? 1 : 0)
    expect(answer.recheckMs).toBeGreaterThanOrEqual(least)
  },
)
