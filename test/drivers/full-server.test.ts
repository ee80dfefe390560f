// A server that has no room for another client when a client connects again.

import { setTimeout as sleep } from 'node:timers/promises'
import * as newest from 'ioredis'
import * as lowest from 'ioredis-lowest'
import { perilune } from 'perilune'
import { expect, onTestFinished, test } from 'vitest'
import { ServerReplyError } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { callOf, ECHO, untilAnswered } from '../../src/testing/driver-calls.ts'
import { withClient } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { HOST, opened, type OpenSingle, waysToOpen } from './client.ts'

const ROOM_AFTER_MS = 700

/** The handshake has a part that is answered before the connection is ready. */
const withPassword = (
  [
    ['ioredis with a password', newest.Redis],
    ['the lowest ioredis with a password', lowest.Redis],
  ] as [string, typeof newest.Redis][]
).map(([name, Redis]): [string, OpenSingle] => [
  name,
  async (port) => {
    const client = new Redis({ host: HOST, port, username: 'app', password: 'any' })
    client.on('error', () => undefined)
    await client.ping()
    return opened(
      ioredis(client),
      () => client.ping(),
      () => client.disconnect(),
    )
  },
])

test.each([...(await waysToOpen('singles')), ...withPassword])(
  '%s: calls wait until there is room, and none is rejected permanently',
  async (_, open) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    await withClient(server.port, async (admin) => {
      await admin.call('ACL', 'SETUSER', 'app', 'on', 'nopass', '~*', '&*', '+@all')
      const { driver, close } = await open(server.port)
      onTestFinished(close)
      const feed = perilune(driver).feed('room')
      await feed.append('before')

      await admin.call('CONFIG', 'SET', 'maxclients', 1)
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      const appends: Promise<unknown>[] = []
      const failures: unknown[] = []
      const endsAt = performance.now() + ROOM_AFTER_MS
      while (performance.now() < endsAt) {
        appends.push(feed.append('meanwhile'))
        driver.run(callOf(ECHO, ['a'], ['x'])).catch((error: unknown) => failures.push(error))
        await sleep(50)
      }
      await admin.call('CONFIG', 'SET', 'maxclients', 1000)

      await Promise.all(appends)
      expect(failures.filter((error) => error instanceof ServerReplyError)).toEqual([])
      expect(await untilAnswered(driver, callOf(ECHO, ['a'], ['after']))).toBe('after')
    })
  },
  20_000,
)
