// Clients keep commands until they have connected again. A call whose caller has given up by then, and that the server
// may not remember any more, must not happen.

import { Redis } from 'ioredis'
import { Redis as LowestRedis } from 'ioredis-lowest'
import { createClient } from 'redis'
import { createClient as createLowestClient } from 'redis-lowest'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startRedis } from '../../test/servers/redis.ts'
import { callOf, scriptOf, until, untilAnswered } from '../testing/driver-calls.ts'
import type { Driver } from '../driver.ts'
import { ioredis } from './ioredis.ts'
import { nodeRedis } from './node-redis.ts'

const COUNT = scriptOf("return redis.call('INCR', KEYS[1])")
const LOOK = scriptOf("return redis.call('GET', KEYS[1])")

interface Opened {
  readonly driver: Driver
  isReady(): boolean
  end(): void
}

function withIoredis(client: Redis): Opened {
  client.on('error', () => undefined)
  return { driver: ioredis(client), isReady: () => client.status === 'ready', end: () => client.disconnect() }
}

async function withNodeRedis(client: ReturnType<typeof createClient>): Promise<Opened> {
  client.on('error', () => undefined)
  await client.connect()
  return { driver: nodeRedis(client), isReady: () => client.isReady, end: () => client.destroy() }
}

/** Without limits of their own. */
const forIoredis = { maxRetriesPerRequest: null, retryStrategy: () => 20 } as const
const forNodeRedis = (port: number): object => ({
  socket: { host: '127.0.0.1', port, reconnectStrategy: 20 },
  commandOptions: { timeout: undefined },
})

const clients: Readonly<Record<string, (port: number) => Opened | Promise<Opened>>> = {
  ioredis: (port) => withIoredis(new Redis(port, forIoredis)),
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of what is used here, both versions have the same
  'the lowest ioredis': (port) => withIoredis(new LowestRedis(port, forIoredis) as unknown as Redis),
  'node-redis': (port) => withNodeRedis(createClient(forNodeRedis(port)) as never),
  'the lowest node-redis': (port) => withNodeRedis(createLowestClient(forNodeRedis(port)) as never),
}

describe.each(Object.entries(clients))('%s', (_, open) => {
  async function lost(): Promise<Opened & { restart(): Promise<void> }> {
    const server = await startRedis({ aof: 'always' })
    const opened = await open(server.port)
    onTestFinished(async () => {
      await opened.driver.close()
      opened.end()
      await server.stop()
    })
    await untilAnswered(opened.driver, callOf(LOOK, ['k']))
    await server.kill()
    await until(() => !opened.isReady(), 'the connection is lost')
    return { ...opened, restart: () => server.restart() }
  }

  const counting = (leftMs: number) => ({ ...callOf(COUNT, ['k']), by: performance.now() + leftMs })

  test('a call that has waited for the connection happens', async () => {
    const { driver, restart } = await lost()
    const counted = untilAnswered(driver, counting(60_000))
    await restart()

    expect(String(await counted)).toBe('1')
  })

  test('a call that has ended before the client connects again does not happen', async () => {
    const { driver, restart } = await lost()
    driver.run(counting(-2000)).catch(() => undefined)
    await sleep(50)
    await restart()

    // The client sends its commands in their order.
    expect(await untilAnswered(driver, callOf(LOOK, ['k']))).toBeNull()
  })
})
