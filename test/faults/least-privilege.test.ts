import { Redis } from 'ioredis'
import { DriverError, perilune } from 'perilune'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import contract from '../../lua/contract.json' with { type: 'json' }
import { startRedis } from '../servers/redis.ts'

async function setup(): Promise<{ user: Redis }> {
  const server = await startRedis()
  const admin = new Redis(server.port)
  const rule = contract.structures.feed.acl.replaceAll('<namespace>', 'shop')
  await admin.call('ACL', 'SETUSER', 'feeds', 'on', '>secret', ...rule.split(' '))
  const user = new Redis({ port: server.port, username: 'feeds', password: 'secret' })
  onTestFinished(async () => {
    user.disconnect()
    admin.disconnect()
    await server.stop()
  })
  return { user }
}

test('a user with the rule of the feed can do everything that a feed does', async () => {
  const { user } = await setup()
  const redis = perilune(ioredis(user), { namespace: 'shop' })
  onTestFinished(() => redis.close())
  const feed = redis.feed<number>('room', { maxClaims: 1, keep: 10 })

  await feed.appendMany([
    { body: 1, expireAfter: '1m' },
    { body: 2, delay: '20ms' },
    { body: 3, idempotencyKey: 'k' },
  ])
  const claim = await feed.claim({ limit: 2, wait: '1s' })
  await claim?.extend('1m', { grace: '1h' })
  await claim?.ack([claim.messages[0]?.id ?? ''])
  await claim?.release()
  await feed.claim()
  const { next } = await feed.read({ includeClaimed: false, includeDelayed: true })
  const waiting = feed.read({ after: next, wait: '5s' })
  await feed.append(4)
  expect((await waiting).messages).not.toEqual([])
  const ada = feed.subscriber('ada', { protect: true })
  await ada.advance(await ada.marker())
  await ada.forget()
  await feed.remove(['1'])
  await feed.get(['1'])
  await feed.findClaim(1)
  await feed.deadLetters.read()
  await feed.inspect()
  expect(await feed.clear()).toBe(true)
})

test('that user can reach nothing else', async () => {
  const { user } = await setup()
  const elsewhere = perilune(ioredis(user), { namespace: 'other' })
  onTestFinished(() => elsewhere.close())

  const error = await elsewhere
    .feed('room')
    .append(1)
    .catch((reason: unknown) => reason)

  expect(error).toBeInstanceOf(DriverError)
  expect(error).toMatchObject({ code: 'forbidden' })
  await expect(user.get('shop:{lock:a}:holder')).rejects.toThrow('NOPERM')
  await expect(user.flushall()).rejects.toThrow('NOPERM')
  await expect(user.keys('*')).rejects.toThrow('NOPERM')
  await expect(user.config('GET', '*')).rejects.toThrow('NOPERM')
  await expect(user.script('FLUSH')).rejects.toThrow('NOPERM')
})
