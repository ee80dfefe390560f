// Delayed messages that become due faster than answers arrive: with each answer some are due.

import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'

const LATER = 60

/** A process for which another message becomes due before each call of these scripts. */
function scene(...scripts: string[]) {
  const { redis: other, name } = instance()
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const run = driver.run.bind(driver)
  const calls = new Map<string, number>()
  let more: () => Promise<unknown> = async () => undefined
  driver.run = async (call) => {
    // A server that has forgotten the script gets its source: the same call again.
    if (call.send === 'hash') calls.set(call.script.name, (calls.get(call.script.name) ?? 0) + 1)
    if (scripts.includes(call.script.name)) await more()
    return run(call)
  }
  const redis = perilune(driver, { namespace: 'instance-test' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  /** Appends a message that is due when this has ended. */
  const comeDue = async (append: () => Promise<unknown>): Promise<void> => {
    await append()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  const always = (append: () => Promise<unknown>): void => {
    let times = 0
    more = async () => (++times < LATER ? comeDue(append) : undefined)
  }
  return { redis, other, name, calls, always }
}

test('a page is returned nevertheless', async () => {
  const { redis, other, name, calls, always } = scene('feed/read')
  await other.feed(name).append('there')
  always(() => other.feed(name).append('later', { delay: '1ms' }))

  const page = await redis.feed(name).read()

  expect(page.messages[0]?.body).toBe('there')
  expect(calls.get('feed/read')).toBe(2)
})

test('a page of partitions is returned nevertheless', async () => {
  const { redis, other, name, calls, always } = scene('feed/read')
  const options = { partitions: 2 }
  await other.feed(name, options).append('there', { key: 'one' })
  always(() => other.feed(name, options).append('later', { key: 'one', delay: '1ms' }))

  const page = await redis.feed(name, options).read()

  expect(page.messages[0]?.body).toBe('there')
  expect(calls.get('feed/read')).toBeLessThanOrEqual(6)
})

test('a waiting reader gets the messages that became due, and follows the feed', async () => {
  const { redis, other, name, always } = scene('feed/read')
  await other.feed(name).append('first', { delay: '1ms' })
  always(() => other.feed(name).append('later', { delay: '1ms' }))
  const met: unknown[] = []

  for await (const { body } of redis.feed(name).tail()) if (met.push(body) === LATER) break

  expect(met).toHaveLength(LATER)
})

test.each(['a feed', 'partitions'])('an inspection of %s is returned nevertheless', async (kind) => {
  const { redis, other, name, calls, always } = scene('feed/inspect')
  const options = { partitions: 1 }
  const feed = kind === 'a feed' ? redis.feed(name) : redis.feed(name, options)
  const its = kind === 'a feed' ? other.feed(name) : other.feed(name, options)
  await its.append('there')
  always(() => its.append('goes', { ttl: '1ms' }))

  const inspection = await feed.inspect()

  expect(inspection.total).toBeGreaterThanOrEqual(1)
  expect(calls.get('feed/inspect')).toBeLessThanOrEqual(10)
})
