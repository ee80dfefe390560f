// ioredis keeps commands until it has connected again. A call that has ended by then, and that the server does not
// remember any more, must not happen.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startRedis } from '../../../test/servers/redis.ts'
import { callOf, scriptOf, until } from '../../testing/driver-calls.ts'
import { ioredis } from '../ioredis.ts'

const COUNT = scriptOf("return redis.call('INCR', KEYS[1])")

test.each([
  ['is sent', 500_000, '1'],
  ['is not sent', 600_000, null],
])('a call that has waited for the connection %s', async (_, waitedMs, counted) => {
  const server = await startRedis({ aof: 'always' })
  const client = new Redis(server.port, { maxRetriesPerRequest: null, retryStrategy: () => 20 })
  client.on('error', () => undefined)
  const driver = ioredis(client)
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await driver.close()
    client.disconnect()
    await server.stop()
  })
  await client.ping()
  await server.kill()
  await until(() => client.status !== 'ready', 'the connection is lost')

  driver.run(callOf(COUNT, ['k'])).catch(() => undefined)
  await sleep(50)
  const now = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => now() + waitedMs)
  await server.restart()
  await until(() => client.status === 'ready', 'it is connected')

  expect(await client.get('k')).toBe(counted)
})
