// An ioredis that listens to the Sentinels (`failoverDetector`), while it asks one of them for the primary.

import { once } from 'node:events'
import * as newest from 'ioredis'
import * as oldest from 'ioredis-lowest'
import { expect, onTestFinished, test } from 'vitest'
import { ioredis } from '../../src/drivers/ioredis.ts'
import { callOf, untilAnswered, WRITE } from '../../src/testing/driver-calls.ts'
import { ask, until } from '../servers/ask.ts'
import { type Proxy, startProxy } from '../servers/proxy.ts'
import { type Sentinels, startSentinels } from '../servers/sentinels.ts'
import { at } from './client.ts'

interface Scene {
  readonly group: Sentinels
  /** In front of the Sentinel that is asked. */
  readonly asked: Proxy
  /** In front of a Sentinel that only reports failovers. */
  readonly telling: Proxy
}

async function arrange(): Promise<Scene> {
  const group = await startSentinels()
  const [asked, telling] = await Promise.all([
    startProxy(group.sentinelPorts[0] ?? 0),
    startProxy(group.sentinelPorts[1] ?? 0),
  ])
  onTestFinished(async () => {
    await Promise.all([asked.stop(), telling.stop(), group.stop()])
  })
  return { group, asked, telling }
}

/** The primary dies, and the Sentinel that is asked for it answers nothing. */
async function untilItAsks({ group, asked }: Scene): Promise<void> {
  asked.halfOpen()
  const before = asked.connections
  await group.primary.kill()
  await until('the client asks for the primary', async () => asked.connections > before)
}

/** Pending calls learn that no answer will come; new calls are answered. */
function answerAgain({ asked }: Scene): void {
  asked.heal()
  asked.resetAll()
}

async function open(Redis: typeof newest.Redis, { group, asked, telling }: Scene): Promise<newest.Redis> {
  const sentinels = at([asked.port, telling.port])
  const client = new Redis({
    sentinels,
    name: group.masterName,
    updateSentinels: false,
    failoverDetector: true,
  })
  client.on('error', () => undefined)
  onTestFinished(() => client.disconnect())
  await client.set('key', 'before')
  await until('it listens to both', async () => telling.openConnections > 0)
  return client
}

const versions: [string, typeof newest.Redis][] = [
  ['the newest ioredis', newest.Redis],
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of what is used here, both versions have the same
  ['the lowest ioredis', oldest.Redis as unknown as typeof newest.Redis],
]

test.each(versions)(
  '%s continues when it hears of a failover while it asks for the primary',
  async (_, Redis) => {
    const scene = await arrange()
    const { group, telling } = scene
    const driver = ioredis(await open(Redis, scene))
    onTestFinished(() => driver.close())

    await untilItAsks(scene)
    await group.switchover()
    await until('the client has heard of the failover', async () => telling.openConnections === 0)
    answerAgain(scene)
    await untilAnswered(driver, callOf(WRITE, ['key'], ['after']))

    expect(await ask(group.primary.port, 'GET', 'key')).toBe('after')
  },
)

test.each(versions)('%s stays closed when its user closes it while it asks', async (_, Redis) => {
  const scene = await arrange()
  const client = await open(Redis, scene)
  const driver = ioredis(client)
  onTestFinished(() => driver.close())

  await untilItAsks(scene)
  const ended = once(client, 'end')
  client.disconnect()
  answerAgain(scene)
  await ended

  expect(client.status).toBe('end')
})

test.each(versions)(
  '%s: a closed listening connection leaves no connection to a Sentinel',
  async (_, Redis) => {
    const scene = await arrange()
    const { group, telling } = scene
    const driver = ioredis(await open(Redis, scene))
    onTestFinished(() => driver.close())
    const before = telling.openConnections
    let gaps = 0
    await driver.subscribe('channel', { onMessage: () => undefined, onGap: () => (gaps += 1) })

    for (const times of [1, 2, 3]) {
      await ask(group.primary.port, 'CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until('it listens again', async () => gaps === times)
    }

    await until(
      'only the client itself listens to the Sentinel',
      async () => telling.openConnections === before,
    )
  },
)
