// A program that is bundled and minified: classes have other names there, those of the client library too.

import type { Redis } from 'ioredis'
import type { ioredis } from 'perilune/ioredis'
import type { nodeRedis } from 'perilune/node-redis'
import type { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConnectionLostError } from '../../src/driver.ts'
import { callOf, ECHO, failureOf } from '../../src/testing/driver-calls.ts'
import { casesFor, type DriverContext, driverSuite } from '../../src/testing/driver-suite.ts'
import { HOST, type OpenSingle, opened } from '../drivers/client.ts'
import { singlePlace } from '../drivers/places.ts'
import { freePort } from '../servers/ports.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { loadCopy } from './second-copy.ts'

interface WithIoredis {
  Redis: typeof Redis
  ioredis: typeof ioredis
}

interface WithNodeRedis {
  createClient: typeof createClient
  nodeRedis: typeof nodeRedis
}

function minified<Exports>(library: string, client: string, driver: string): Promise<Exports> {
  const contents = `export { ${client} } from '${library}'; export * from 'perilune/${driver}'`
  return loadCopy<Exports>(contents, { minify: true })
}

async function openIoredis(library: string): Promise<OpenSingle> {
  const program = await minified<WithIoredis>(library, 'Redis', 'ioredis')
  return async (port) => {
    const client = new program.Redis({ host: HOST, port })
    client.on('error', () => undefined)
    const ping = (): Promise<unknown> => client.call('PING')
    return opened(program.ioredis(client), ping, () => client.disconnect())
  }
}

/** `timeout`: how long an unsent command waits at most. */
async function openNodeRedis(library: string, timeout = 5000): Promise<OpenSingle> {
  const program = await minified<WithNodeRedis>(library, 'createClient', 'node-redis')
  return async (port) => {
    const socket = { host: HOST, port, reconnectStrategy: 20 }
    const client = program.createClient({ socket, commandOptions: { timeout } })
    client.on('error', () => undefined)
    void client.connect().catch(() => undefined)
    return opened(
      program.nodeRedis(client),
      () => client.ping(),
      () => client.destroy(),
    )
  }
}

let server: RedisServer

beforeAll(async () => {
  server = await startRedis()
})
afterAll(() => server.stop())

describe.each([
  ['ioredis', openIoredis],
  ['ioredis-lowest', openIoredis],
  ['redis', openNodeRedis],
  ['redis-lowest', openNodeRedis],
])('%s, minified', (library, openLibrary) => {
  let open: OpenSingle
  let place: DriverContext

  beforeAll(async () => {
    open = await openLibrary(library)
    place = singlePlace(server, open)
  })

  for (const each of casesFor(driverSuite, ['single'])) {
    test(each.title, () => each.run(place))
  }
})

test.each(['redis', 'redis-lowest'])(
  '%s, minified: a call that waited too long to be sent was certainly not sent',
  async (library) => {
    const { driver, close } = await (await openNodeRedis(library, 50))(await freePort())

    const failure = await failureOf(driver.run(callOf(ECHO, ['k'], ['x'])))
    await close()

    expect(failure).toBeInstanceOf(ConnectionLostError)
    expect(failure).toMatchObject({ sent: false })
  },
)
