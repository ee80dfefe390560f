// The first call of a process, before the kind of channels is known: what it publishes on a cluster reaches those who
// wait.

import { Cluster } from 'ioredis'
import { type Driver, perilune, type Perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { readContract } from '../../../test/conformance/files.ts'
import { type RedisCluster, startCluster } from '../../../test/servers/cluster.ts'

let cluster: RedisCluster

beforeAll(async () => {
  cluster = await startCluster({ masters: 1 })
}, 60_000)
afterAll(() => cluster.stop())

const calls: Readonly<Record<string, (redis: Perilune) => Promise<unknown>>> = {
  'once/complete': (redis) => redis.once<string>('a').byToken.complete('k', 1, 'done'),
  'once/release': (redis) => redis.once('a').byToken.release('k', 1),
  'once/clear': (redis) => redis.once('a').clear('k'),
  'feed/release': (redis) => redis.feed('a').byToken.release([{ token: 1, ids: 'all' }] as never),
  'feed/append': (redis) => redis.feed('a').append(1),
  'lock/release': (redis) => redis.lock('a').byToken.release(1),
  'lock/clear': (redis) => redis.lock('a').clear(),
  'semaphore/clear': (redis) => redis.semaphore('a', { limit: 1 }).clear(),
  'cache/invalidate': (redis) => redis.cache('a').invalidate('k'),
  'queue/clear': (redis) => redis.queue('a').clear(),
}

test.each(Object.entries(calls))('%s', async (_, call) => {
  const client = new Cluster(cluster.ports.map((port) => ({ host: '127.0.0.1', port })))
  const driver: Driver = ioredis(client)
  const { run } = driver
  const { operations } = readContract()
  const sharded: unknown[] = []
  driver.run = (asked) => {
    const at = operations[asked.script.name]?.arguments.findIndex((each) => each.name === 'sharded') ?? -1
    if (at >= 0) sharded.push(Number(asked.args[at]))
    return run.call(driver, asked)
  }
  const redis = perilune(driver, { namespace: 'first-channels' })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })

  await call(redis).catch(() => undefined)

  expect(new Set(sharded)).toEqual(new Set([1]))
})
