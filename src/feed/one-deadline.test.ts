// Operations that need several calls because messages are due, each with a late answer: all calls share one deadline.

import { Redis } from 'ioredis'
import { type Feed, type PartitionedFeed, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { instance } from '../../test/instance.ts'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const LATE_MS = 800

/** A process whose first call is answered late, and whose later calls are not answered before the deadline. */
async function scene(first: string) {
  const { redis: other, name } = instance()
  const options = { partitions: 2 }
  for (const feed of [other.feed(name), other.feed(`${name}-spread`, options)]) {
    await feed.append('there')
    await feed.append('is due', { delay: '1ms' })
  }
  await sleep(5)
  const client = new Redis(inject('redisPort'))
  const driver = ioredis(client)
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    const reply = await run(call)
    if (call.script.name === first) await sleep(LATE_MS)
    if (['feed/settle', 'feed/get'].includes(call.script.name)) await new Promise(() => undefined)
    return reply
  }
  const redis = perilune(driver, { namespace: 'instance-test', deadline: '1s' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { feed: redis.feed(name), spread: redis.feed(`${name}-spread`, options) }
}

type Ask = (feeds: { feed: Feed<unknown>; spread: PartitionedFeed<unknown> }) => Promise<unknown>

test.each<[string, string, Ask]>([
  ['a page', 'feed/read', ({ feed }) => feed.read()],
  ['a page of partitions', 'feed/read', ({ spread }) => spread.read()],
  ['an inspection', 'feed/inspect', ({ feed }) => feed.inspect()],
  ['an inspection of partitions', 'feed/inspect', ({ spread }) => spread.inspect()],
])('%s ends before a call that was begun after it', async (what, first, ask) => {
  const feeds = await scene(first)
  const ended: string[] = []
  const end = async (name: string, asked: Promise<unknown>): Promise<void> => {
    await asked.catch(() => undefined)
    ended.push(name)
  }
  const asking = end(what, ask(feeds))
  await sleep(LATE_MS / 2)
  await Promise.all([asking, end('a call', feeds.feed.get(['1']))])

  expect(ended).toEqual([what, 'a call'])
})
