import { expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../servers/redis.ts'
import { addLapsed } from './uses/line.ts'
import { placeOn } from './uses/place.ts'

test('permits of dead holders are removed a thousand a call, and never counted free before', async () => {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const { redis, client, name } = await placeOn({ port: server.port, namespace: 'shop' })
  const semaphore = redis.semaphore(name, { limit: 5000 })
  await semaphore.acquire()
  const prefix = `shop:{semaphore:${name}}`
  await addLapsed(client, { leases: `${prefix}:permits`, ids: `${prefix}:ids`, count: 2500, weight: '1 ' })
  const [soon, later] = [1_700_000_000_000, Date.now() + 60_000]
  await client.set(`${prefix}:state`, `1 5000 0 2501 ${later * 1000} ${soon} ${later} 0`)

  expect(await semaphore.tryAcquire({ weight: 4999 })).toBe(null)
  expect(await client.zcard(`${prefix}:permits`)).toBe(1501)
  expect(await semaphore.tryAcquire({ weight: 4999 })).toBe(null)
  expect(await client.zcard(`${prefix}:permits`)).toBe(501)

  expect(await semaphore.tryAcquire({ weight: 4999 })).not.toBe(null)
  expect(await semaphore.inspect()).toMatchObject({ used: 5000, permits: [{}, {}] })
})
