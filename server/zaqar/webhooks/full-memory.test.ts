// Pushes are sent even if the server is out of memory, because waiting pushes may be what fills it.

import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { startRedis } from '../../../test/servers/redis.ts'
import { startApp, type TestApp } from '../../testing/test-app.ts'
import { isNotification } from '../testing/receiver.ts'
import { openReceiver, post, subscribeAndConfirm, waiting } from '../testing/webhook-app.ts'

vi.stubEnv('PERILUNE_WEBHOOK_ALLOW', '127.0.0.0/8')
afterAll(() => vi.unstubAllEnvs())

const EACH_SECOND = {
  _retry_policy: {
    retries_with_no_delay: 0,
    minimum_delay_retries: 90,
    minimum_delay: 1,
    maximum_delay: 1,
    maximum_delay_retries: 90,
  },
}

async function openApp(): Promise<TestApp> {
  const server = await startRedis({ args: ['--maxmemory-policy', 'noeviction'] })
  const app = await startApp(server.port)
  onTestFinished(async () => {
    await app.client.config('SET', 'maxmemory', '0')
    await app[Symbol.asyncDispose]()
    await server.stop()
  })
  return app
}

// A receiver that has not answered yet is served by the slow queue; then it moves to the fast one.
test.each([
  ['quick', 0],
  ['silent', 1500],
])('pushes to a receiver that was %s go out on a full server, and leave it', async (_, afterMs) => {
  const app = await openApp()
  let isDown = false
  const receiver = await openReceiver((response, _before, letter) => {
    if (!isDown || !isNotification(letter)) response.end()
    else setTimeout(() => response.writeHead(500).end(), afterMs)
  })
  await subscribeAndConfirm(app, receiver, EACH_SECOND)
  isDown = true
  const bodies = Array.from({ length: 100 }, (_each, at) => at)
  await post(app, ...bodies)
  await receiver.wait(8, isNotification)
  await sleep(afterMs)

  await app.client.config('SET', 'maxmemory', '1')
  expect((await post(app, 'refused')).status).toBe(503)
  isDown = false
  const before = receiver.received.length
  const got = (): Set<unknown> => new Set(receiver.received.slice(before).map(({ json }) => json.body))
  while (got().size < 100) await sleep(50)
  while ((await waiting(app)) > 0) await sleep(50)

  expect(got()).toEqual(new Set(bodies))
})
