// Connections over which nothing is read for long, and that are well: they are kept.

import { expect, onTestFinished, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
import { callOf, ECHO, scriptOf, WRITE } from '../../src/testing/driver-calls.ts'
import { ask } from '../servers/ask.ts'
import { startRedis } from '../servers/redis.ts'
import { type OpenSingle, waysToOpen } from './client.ts'
import { LONG_MS, startNarrow, startTrickle } from './slow-lines.ts'

const ways = (await waysToOpen('singles')).filter(([name]) => !name.includes('RESP2'))

async function ownServer(): Promise<number> {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  return server.port
}

async function driverAt(port: number, open: OpenSingle): Promise<Driver> {
  const opened = await open(port)
  onTestFinished(() => opened.close())
  await opened.driver.run(callOf(ECHO, ['a'], ['before']))
  return opened.driver
}

test.each(ways)(
  '%s keeps a connection while a large call is sent slowly over it',
  async (_, open) => {
    const size = 1_000_000
    const driver = await driverAt(await startNarrow(await ownServer(), size / (LONG_MS / 1000)), open)

    const call = callOf(scriptOf('return #ARGV[1]'), ['a'], ['x'.repeat(size)])
    expect(await driver.run(call)).toBe(size)
  },
  30_000,
)

test.each(ways)(
  '%s keeps a connection while small answers are due after a large one',
  async (_, open) => {
    const driver = await driverAt(await startTrickle(await ownServer()), open)

    const large = driver.run(callOf(scriptOf("return string.rep('x', 3000)", { bytes: true }), ['a']))
    const small = driver.run(callOf(ECHO, ['a'], ['behind']))

    expect(String(await large)).toHaveLength(3000)
    expect(await small).toBe('behind')
  },
  30_000,
)

test.each(ways)(
  '%s keeps a connection whose server delays writes, as before a planned failover',
  async (_, open) => {
    const port = await ownServer()
    const driver = await driverAt(port, open)

    await ask(port, 'CLIENT', 'PAUSE', LONG_MS, 'WRITE')
    expect(await driver.run(callOf(WRITE, ['a'], ['held back']))).toBe('written')
  },
  30_000,
)
