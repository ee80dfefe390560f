import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { keysFor } from '../../test/partitioned-fixture.ts'
import { until } from '../../test/queue-fixture.ts'
import { silencing } from '../../test/silencing-driver.ts'

test('beside a silent partition messages of the others are claimed, and its own are given back', async () => {
  const client = new Redis(inject('redisPort'))
  const { driver, silence } = silencing(ioredis(client))
  const redis = perilune(driver, { namespace: 'silent', deadline: '1m' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  const name = randomUUID()
  const feed = redis.partitionedFeed<number>(name, { partitions: 4 })
  await feed.appendMany(keysFor(4).map((key, body) => ({ key, body })))
  silence.of = ({ keys }) => keys[0]?.startsWith(`silent:{feed:${name}:2}`) === true

  const claims = [await feed.claim(), await feed.claim(), await feed.claim()]

  const claimed = claims.flatMap((claim) => claim?.messages.map(({ body }) => body))
  expect(new Set(claimed)).toEqual(new Set([0, 1, 3]))
  silence.of = () => false
  silence.end()
  const open = redis.partitionedFeed<number>(name, { partitions: 4 })
  await until(async () => (await open.claim())?.messages[0]?.body === 2)
})
