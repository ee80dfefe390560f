// A client that has lost count assigns a reply to the wrong call, and all later replies too.

import { perilune } from 'perilune'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { waysToOpen } from './client.ts'
import { type Relay, startRelay } from './relay.ts'

describe.each(await waysToOpen('singles'))('%s', (_, open) => {
  let server: RedisServer
  let relay: Relay

  beforeAll(async () => {
    server = await startRedis()
    relay = await startRelay(server.port)
  })
  afterAll(async () => {
    relay.stop()
    await server.stop()
  })

  test('a connection with one reply too many is given up, and every call gets its own answer', async () => {
    const opened = await open(relay.port)
    const redis = perilune(opened.driver)
    const [lock, feed, limit] = [
      redis.lock('l'),
      redis.feed('f'),
      redis.rateLimit('r', { limit: 99, window: '1h' }),
    ]
    await limit.take('ada')
    const before = relay.connections

    relay.insertReply()
    const [lease, first, taken, second] = await Promise.all([
      lock.acquire(),
      feed.append('first'),
      limit.take('ben'),
      feed.append('second'),
    ])
    const { messages } = await feed.read()

    expect(relay.connections).toBeGreaterThan(before)
    expect(messages.map(({ id, body }) => [id, body])).toEqual([
      [first.id, 'first'],
      [second.id, 'second'],
    ])
    expect(taken).toMatchObject({ allowed: true })
    await lease.release()
    await redis.close()
    await opened.close()
  })

  test('it is given up once, however many later replies are misread', async () => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const opened = await open(relay.port)
    const redis = perilune(opened.driver)
    const limit = redis.rateLimit('many', { limit: 99, window: '1h' })
    await limit.take('ada')
    const before = relay.connections

    relay.insertReplyBeforeMany()
    // No reply fits the call that is before its own.
    const calls: Promise<unknown>[] = []
    for (let n = 0; n < 20; n++) calls.push(redis.lock(`many ${n}`).acquire(), limit.get(`${n}`))
    await Promise.all(calls)

    expect(relay.connections).toBe(before + 1)
    expect(warnings).toEqual([])
    await redis.close()
    await opened.close()
  })

  test('so is one whose first reply is the surplus one', async () => {
    const opened = await open(relay.port)
    const redis = perilune(opened.driver)
    const before = relay.connections

    relay.insertReply()

    expect(await redis.lock('first').run(() => 'done')).toBe('done')
    expect(relay.connections).toBeGreaterThan(before)
    await redis.close()
    await opened.close()
  })
})
