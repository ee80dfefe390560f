import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../test/servers/redis.ts'
import { useExternal } from './external.ts'
import { openClient } from './client.ts'

const say = (): void => undefined

test('a database that does not exist, or may not be used, is reported in one clear line at the start', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const { port } = redis
  const admin = new Redis(port, '127.0.0.1')
  await admin.call('ACL', ...'SETUSER app on >secret ~* &* +@all -select'.split(' '))
  const start = (url: string) => useExternal(url, say).then(() => 'started', String)

  expect(await start(`redis://127.0.0.1:${port}/15`)).toBe('started')
  expect(await start(`redis://127.0.0.1:${port}/99`)).toMatch(
    /cannot use the Redis at 127\.0\.0\.1:\d+: it has no database with the number in the URL$/,
  )
  expect(await start(`redis://app:secret@127.0.0.1:${port}/3`)).toMatch(/no right to SELECT/)
  expect(await start(`redis://app:secret@127.0.0.1:${port}/0`)).toBe('started')
  admin.disconnect()
})

test('a client writes to the database that its URL names, or to none', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis.stop())
  const reasons: string[] = []
  const client = openClient(`redis://127.0.0.1:${redis.port}/99`, ({ message }) => reasons.push(message))
  const key = randomUUID()
  const written = client.set(key, '1').then(
    () => 'written',
    () => 'refused',
  )
  while (reasons.length < 3) await new Promise((resolve) => client.once('error', resolve))
  client.disconnect()
  expect(await written).toBe('refused')
  expect(reasons[0]).toMatch(/DB index/)

  const admin = new Redis(redis.port, '127.0.0.1')
  expect(await admin.exists(key)).toBe(0)
  admin.disconnect()
})
