import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, inject, onTestFinished, test } from 'vitest'
import { keysFor } from '../../test/partitioned-fixture.ts'
import { until } from '../../test/queue-fixture.ts'
import { silencing } from '../../test/silencing-driver.ts'

async function prepare(deadline: '1m' | '1s' = '1m') {
  const client = new Redis(inject('redisPort'))
  const { driver, silence } = silencing(ioredis(client))
  const redis = perilune(driver, { namespace: 'silent', deadline })
  onTestFinished(async () => {
    await redis.close()
    client.disconnect()
  })
  return { redis, silence, name: randomUUID() }
}

test('with one silent partition, messages of others are claimed, and its own are given back', async () => {
  const { redis, silence, name } = await prepare()
  const options = { partitions: 4, maxClaims: 1 }
  const feed = redis.feed<number>(name, options)
  await feed.appendMany(keysFor(4).map((key, body) => ({ key, body })))
  silence.of = ({ keys }) => keys[0]?.startsWith(`silent:{feed:${name}:2}`) === true

  const claims = [await feed.claim(), await feed.claim(), await feed.claim()]

  const claimed = claims.flatMap((claim) => claim?.messages.map(({ body }) => body))
  expect(new Set(claimed)).toEqual(new Set([0, 1, 3]))
  silence.of = () => false
  silence.end()
  // No consumer received them, so they are not dead letters.
  const open = redis.feed<number>(name, options)
  await until(async () => (await open.claim())?.messages[0]?.body === 2)
})

test('with one silent partition, a claim waits for messages of others', async () => {
  const { redis, silence, name } = await prepare()
  const feed = redis.feed<string>(name, { partitions: 2 })
  const [key = ''] = keysFor(2)
  await feed.append('first', { key })
  await (await feed.claim())?.ack()
  let asked = 0
  silence.of = ({ keys, script }) => {
    if (script.name === 'feed/claim' && keys[0]?.startsWith(`silent:{feed:${name}:0}`)) asked += 1
    return keys[0]?.startsWith(`silent:{feed:${name}:1}`) === true
  }

  const claiming = feed.claim({ wait: '1m' })
  await until(() => asked === 2)
  await feed.append('now', { key })

  expect((await claiming)?.messages.map(({ body }) => body)).toEqual(['now'])
  silence.end()
})

test('messages claimed for a caller that left are given back, not dead-lettered', async () => {
  const { redis, silence, name } = await prepare()
  const feed = redis.feed<number>(name, { maxClaims: 1 })
  await feed.append(7)
  const gone = new AbortController()
  silence.of = () => true
  const claiming = feed.claim({ signal: gone.signal })
  gone.abort(new Error('gone'))
  await expect(claiming).rejects.toThrow('gone')

  silence.of = () => false
  silence.end()

  const open = redis.feed<number>(name, { maxClaims: 1 })
  await until(async () => (await open.claim())?.messages[0]?.body === 7)
})

test('an empty read does not need the number of partitions, if no server returns it in time', async () => {
  const { redis, silence, name } = await prepare()
  await redis.feed<number>(name, { partitions: 2 }).append(1)
  const feed = redis.feed<number>(name, { partitions: 2 })
  silence.of = ({ keys }) => keys[0]?.startsWith(`silent:{feed:${name}}`) === true

  expect((await feed.read({ after: 'end' })).messages).toEqual([])
  expect((await feed.claim())?.messages.map(({ body }) => body)).toEqual([1])
  expect(await redis.feed<number>(name, { partitions: 2 }).claim()).toBeNull()
})

test.each<['claim' | 'pop']>([['claim'], ['pop']])(
  'when no partition answers, %s ends before a call that began after it',
  async (method) => {
    const { redis, silence, name } = await prepare('1s')
    const feed = redis.feed<number>(name, { partitions: 4 })
    await feed.appendMany(keysFor(4).map((key, body) => ({ key, body })))
    silence.of = () => true
    const ended: string[] = []
    const end = async (what: string, asked: Promise<unknown>): Promise<void> => {
      await asked.catch(() => undefined)
      ended.push(what)
    }

    const claiming = end(method, feed[method]())
    await new Promise((resolve) => setTimeout(resolve, 400))
    await Promise.all([claiming, end('get', feed.get(['1.1']))])

    expect(ended).toEqual([method, 'get'])
  },
)
