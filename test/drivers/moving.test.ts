// A server that is about to end announces the address of its successor (`MOVING`), and clients may go there.

import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { ask, askFields, until } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { HOST, waysToOpen } from './client.ts'
import { type Relay, startRelay } from './relay.ts'

let heard: string[]

beforeEach(() => {
  heard = []
})

const listener = {
  onMessage: (message: string) => void heard.push(message),
  onLost: () => void heard.push('lost'),
  onGap: () => void heard.push('gap'),
}

async function relayTo(port: number): Promise<Relay> {
  const relay = await startRelay(port)
  onTestFinished(() => relay.stop())
  return relay
}

async function calls(port: number, command: string): Promise<number> {
  const stats = await askFields(port, 'INFO', 'commandstats')
  return Number(/calls=(\d+)/.exec(stats.get(`cmdstat_${command}`) ?? '')?.[1] ?? 0)
}

/** Only RESP3 has announcements, and only node-redis follows them. */
const ways = (await waysToOpen('singles')).filter(([name]) => name.endsWith('node-redis'))

test.each(ways)(
  '%s hears what is published after the server has announced its successor',
  async (_, open) => {
    const server = await startRedis()
    onTestFinished(() => server.stop())
    const [old, successor] = [await relayTo(server.port), await relayTo(server.port)]
    const { driver, close } = await open(old.port)
    onTestFinished(close)
    await driver.subscribe('news', listener)

    const address = `${HOST}:${successor.port}`
    old.say(`>4\r\n$6\r\nMOVING\r\n:1\r\n:1\r\n$${address.length}\r\n${address}\r\n`)
    await until('the commands go to the successor', async () => successor.connections > 0)
    const pings = await calls(server.port, 'ping')
    await until(
      'the line has proved itself twice',
      async () => (await calls(server.port, 'ping')) >= pings + 2,
    )
    await ask(server.port, 'PUBLISH', 'news', 'still here')
    await until('it is heard', async () => heard.length > 0)

    expect(heard).toEqual(['still here'])
    old.stop()
    await until('the gap is reported', async () => heard.at(-1) === 'gap')
    await until('the driver is healthy', async () => driver.healthy())
    await ask(server.port, 'PUBLISH', 'news', 'there')
    await until('it is heard at the successor', async () => heard.at(-1) === 'there')
  },
)
