// A partition of dead letters is proposed before it is used: by a subscriber, or by a handle with another number.

import { expect, test } from 'vitest'
import { setup } from '../../test/partitioned-fixture.ts'

test('dead letters that come into a proposed partition are kept', async () => {
  const { redis, client, name, feed } = setup<string>({ partitions: 1, maxClaims: 1 })
  const { runner } = redis.runtime
  const { run } = runner
  runner.run = (operation, ...terms) =>
    operation.script.name === 'feed/agree'
      ? Promise.reject(new Error('the node of the number stands still'))
      : (run.call(runner, operation, ...terms) as never)
  await expect(feed.deadLetters.subscriber('reader').cursor()).rejects.toThrow('stands still')
  runner.run = run
  const meta = `partition-test:{feed:${name}:0}:dead-meta`
  expect(await client.pttl(meta)).toBeGreaterThan(0)

  await feed.append('in vain')
  await (await feed.claim())?.release()
  expect(await feed.claim()).toBe(null)

  expect(await client.hget(meta, 'proposed')).toBe(null)
  expect(await client.pttl(meta)).toBe(-1)
  expect(await feed.deadLetters.subscriber('reader').cursor()).toMatch(/./)
  expect((await feed.deadLetters.pop()).map(({ body }) => body)).toEqual(['in vain'])
})

test('a subscriber of a handle with another number is not forgotten', async () => {
  const { redis, name, feed } = setup<string>()
  await feed.append('first')
  await feed.subscriber('reader').cursor()

  await expect(redis.feed(name, { partitions: 2 }).subscriber('reader').forget()).rejects.toMatchObject({
    argument: 'partitions',
  })

  expect(await feed.subscriber('reader').forget()).toBe(true)
})
