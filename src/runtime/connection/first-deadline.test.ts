// The first call of a process also asks what the server is: it ends by the deadline of one call.

import { Redis } from 'ioredis'
import { type Driver, perilune, type Perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'

const DEADLINE_MS = 3000
const ASKING_MS = 200

const calls: Readonly<Record<string, (redis: Perilune) => Promise<unknown>>> = {
  'lock.tryAcquire': (redis) => redis.lock('a').tryAcquire(),
  'shared.tryAcquire': (redis) => redis.lock('a').shared.tryAcquire(),
  'lock.clear': (redis) => redis.lock('a').clear(),
  'locks.tryAcquire': (redis) => redis.locks(['a', 'b'], { group: 'g' }).tryAcquire(),
  'semaphore.tryAcquire': (redis) => redis.semaphore('a', { limit: 1 }).tryAcquire(),
  'semaphore.clear': (redis) => redis.semaphore('a', { limit: 1 }).clear(),
  'byToken.release': (redis) => redis.lock('a').byToken.release(1),
  'byToken.extend': (redis) => redis.lock('a').byToken.extend(1, '1s'),
  'rateLimit.take': (redis) => redis.rateLimit('a', { limit: 1, window: '1s' }).take('b'),
  'queue.enqueue': (redis) => redis.queue('a').enqueue('job', 1),
  'feed.append': (redis) => redis.feed('a').append(1),
  'once.begin': (redis) => redis.once('a').begin('b'),
}

test.each(Object.entries(calls))('%s', async (_, call) => {
  const client = new Redis(inject('redisPort'))
  const driver: Driver = ioredis(client)
  const { info, run } = driver
  const ends: number[] = []
  driver.info = async () => {
    await sleep(ASKING_MS)
    return info.call(driver)
  }
  driver.run = (asked) => {
    ends.push(asked.by ?? Infinity)
    return run.call(driver, asked)
  }
  const redis = perilune(driver, { namespace: 'first-deadline', deadline: `${DEADLINE_MS}ms` })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })

  const began = performance.now()
  await call(redis).catch(() => undefined)

  expect(ends[0]).toBeLessThan(began + DEADLINE_MS + ASKING_MS)
})
