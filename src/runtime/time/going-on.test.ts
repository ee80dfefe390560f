// Work that others wait for is retried soon after an outage of any length, and about once a second at most.

import { type Driver, type Perilune, perilune } from 'perilune'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ServerReplyError } from '../../driver.ts'

const HOUR_MS = 3_600_000

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

/** With a server that accepts no calls; `tries` returns the number of attempts so far. */
function away(): { redis: Perilune; fail: () => void; tries: () => number } {
  let tries = 0
  const refuse = (): Promise<never> => Promise.reject(new ServerReplyError('LOADING the data'))
  const driver: Driver = {
    name: 'away',
    wait: refuse,
    run: refuse,
    runMany: (calls) => calls.map(() => refuse()),
    read: (calls) => calls.map(() => refuse()),
    write: refuse,
    load: refuse,
    subscribe: refuse,
    info: async () => ({ engine: 'redis', version: '7.0.0', cluster: false, shardedChannels: false }),
    healthy: () => true,
    close: async () => undefined,
  }
  return { redis: perilune(driver, { deadline: '100ms' }), fail: () => void (tries += 1), tries: () => tries }
}

const kinds: [string, (redis: Perilune, fail: () => void) => () => Promise<unknown>][] = [
  [
    'an election',
    (redis, fail) => {
      const campaign = redis.election('cron').campaign(() => undefined, { onError: fail })
      return () => campaign.close()
    },
  ],
  [
    'a worker',
    (redis, fail) => {
      const worker = redis.queue('mails').work({ mail: () => undefined }, { onError: fail })
      return () => worker.close()
    },
  ],
]

test.each(kinds)('%s is retried about once a second in an outage of an hour', async (_, begin) => {
  const { redis, fail, tries } = away()
  const end = begin(redis, fail)

  await vi.advanceTimersByTimeAsync(HOUR_MS)

  expect(tries()).toBeGreaterThan(2500)
  expect(tries()).toBeLessThan(8000)
  const ending = Promise.all([end(), redis.close()])
  await vi.advanceTimersByTimeAsync(10_000)
  await ending
})
