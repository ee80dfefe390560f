// Silence while other work is due: on other nodes, by other drivers on the client, or by a command that waits at the
// server.

import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import * as newest from 'redis'
import * as lowest from 'redis-lowest'
import { expect, onTestFinished, test } from 'vitest'
import { ConnectionLostError, type Driver } from '../../src/driver.ts'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { nodeRedis } from '../../src/drivers/node-redis.ts'
import { slotOf } from '../../src/drivers/wire/slot.ts'
import { callOf, ECHO, failureOf, scriptOf, untilAnswered } from '../../src/testing/driver-calls.ts'
import { ask, until } from '../servers/ask.ts'
import { startCluster } from '../servers/cluster.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type RedisServer, startRedis } from '../servers/redis.ts'
import { announce } from './announced.ts'
import { HOST, waysToOpen } from './client.ts'
import { LONG_MS, startNarrow } from './slow-lines.ts'

/** Old connections are dead from here on, without a word; new ones work. */
function dropSilently(proxy: Proxy): void {
  proxy.halfOpen()
  proxy.heal()
}

function keyFrom(fits: (slot: number) => boolean): string {
  for (;;) {
    const key = randomUUID()
    if (fits(slotOf(key))) return key
  }
}

test.each(await waysToOpen('clusters'))(
  '%s: a node with a half-open connection is reached again, however many calls wait for another, frozen node',
  async (_, open) => {
    const cluster = await startCluster({ masters: 3 })
    onTestFinished(() => cluster.stop())
    const proxies = await Promise.all(cluster.ports.map((port) => startProxy(port)))
    onTestFinished(async () => {
      await Promise.all(proxies.map((each) => each.stop()))
    })
    await announce(cluster.ports, proxies)
    for (const port of cluster.ports) await ask(port, 'CONFIG', 'SET', 'cluster-node-timeout', 60_000)
    const { driver, close } = await open(proxies.map(({ port }) => port))
    onTestFinished(close)
    const keys = [keyFrom((slot) => slot < 5000), keyFrom((slot) => slot > 6000 && slot < 10_000)] as const
    for (const key of keys) await driver.run(callOf(ECHO, [key], ['before']))

    const frozen = cluster.nodes[0] as RedisServer
    process.kill(frozen.pid, 'SIGSTOP')
    onTestFinished(() => void process.kill(frozen.pid, 'SIGCONT'))
    for (let n = 0; n < 500; n += 1) driver.run(callOf(ECHO, [keys[0]], ['due'])).catch(() => undefined)
    dropSilently(proxies[1] as Proxy)

    // ioredis may send some of them to the frozen one, as long as it has no connection to theirs.
    let isAnswered = false
    const use = (): unknown =>
      driver.run(callOf(ECHO, [keys[1]], ['after'])).then(
        () => (isAnswered = true),
        () => undefined,
      )
    const using = setInterval(use, 200)
    onTestFinished(() => clearInterval(using))
    await until('it is answered', async () => isAnswered, 40_000)
  },
  60_000,
)

/** Two drivers on one client. */
const pairs: [string, (port: number) => Promise<readonly [Driver, Driver]>][] = [
  ['node-redis', async (port) => pairOn(newest.createClient({ socket: { host: HOST, port } }))],
  [
    'node-redis with a view of the client',
    async (port) => {
      const client = newest.createClient({ socket: { host: HOST, port } })
      return pairOn(client, client.withTypeMapping({}))
    },
  ],
  ['the lowest node-redis', async (port) => pairOn(lowest.createClient({ socket: { host: HOST, port } }))],
  [
    'ioredis',
    async (port) => {
      const client = new Redis({ host: HOST, port })
      onTestFinished(() => client.disconnect())
      return [ioredis(client), ioredis(client)]
    },
  ],
]

type Client = Parameters<typeof nodeRedis>[0]

async function pairOn(
  client: Client & { connect(): Promise<unknown>; destroy(): void },
  other: Client = client,
): Promise<readonly [Driver, Driver]> {
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.destroy())
  return [nodeRedis(client), nodeRedis(other)]
}

test.each(pairs)(
  '%s keeps a connection while a large call of another driver is sent slowly over it',
  async (_, open) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const size = 1_000_000
    const [one, other] = await open(await startNarrow(server.port, size / (LONG_MS / 1000)))
    for (const driver of [one, other]) await driver.run(callOf(ECHO, ['a'], ['before']))

    const large = one.run(callOf(scriptOf('return #ARGV[1]'), ['a'], ['x'.repeat(size)]))
    const small = other.run(callOf(ECHO, ['a'], ['behind']))
    // As before its first script.
    const info = other.info()

    expect(await large).toBe(size)
    expect(await small).toBe('behind')
    expect(await info).toHaveProperty('version')
  },
  30_000,
)

test.each((await waysToOpen('singles')).filter(([name]) => ['ioredis', 'node-redis'].includes(name)))(
  '%s: a stalled server gets no more calls once very many wait, and all of them when it continues',
  async (_, open) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const { driver, close } = await open(server.port)
    onTestFinished(close)
    await driver.run(callOf(ECHO, ['a'], ['before']))

    process.kill(server.pid, 'SIGSTOP')
    const due = Array.from({ length: 10_000 }, () => driver.run(callOf(ECHO, ['a'], ['due'])))
    await until('no more is sent', async () => {
      const refused = driver.run(callOf(ECHO, ['a'], ['more'])).catch((error: unknown) => error)
      const isRefused = await Promise.race([refused, new Promise((resolve) => setTimeout(resolve, 200))])
      return isRefused instanceof ConnectionLostError && !isRefused.sent
    })
    process.kill(server.pid, 'SIGCONT')

    expect(new Set(await Promise.all(due))).toEqual(new Set(['due']))
    expect(await untilAnswered(driver, callOf(ECHO, ['a'], ['after']))).toBe('after')
  },
  60_000,
)

test.each((await waysToOpen('singles')).filter(([name]) => !name.includes('RESP2')))(
  '%s replaces a connection that falls silent while a WAIT is due on it',
  async (_, open) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const proxy = await startProxy(server.port)
    onTestFinished(() => proxy.stop())
    const { driver, close } = await open(proxy.port)
    onTestFinished(close)
    await driver.run(callOf(ECHO, ['a'], ['before']))

    dropSilently(proxy)
    const failure = failureOf(driver.wait('a', 1, 500))
    const behind = failureOf(driver.run(callOf(ECHO, ['a'], ['behind'])))

    expect([await failure, await behind]).toMatchObject([{ sent: true }, { sent: true }])
    expect(await untilAnswered(driver, callOf(ECHO, ['a'], ['after']))).toBe('after')
  },
  30_000,
)
