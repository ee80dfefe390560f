// Redis stops answering in the middle of a load: at the election, and after the loader.

import { setTimeout as sleep } from 'node:timers/promises'
import { Cache, type CacheOptions } from 'perilune/cache'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/cache-fixture.ts'
import { counting } from '../../test/counting-driver.ts'
import { ConnectionLostError } from '../driver.ts'
import { Runtime } from '../runtime/connection/runtime.ts'

const PATIENT = { storeWithin: '100ms', lease: '1h', wait: '5s' } as const

/** A process whose server answers none of its scripts while it is away; `other` sees it from outside. */
async function scene(deadlineMs: number, options: CacheOptions<string>) {
  const { cache: other, client, name } = await setup<string>({ clock: 'real' })
  const driver = counting(ioredis(client), [])
  const away = { isAway: false, from: '' }
  const run = driver.run.bind(driver)
  driver.run = async (call) => {
    if (away.isAway) throw new ConnectionLostError('away', true)
    const reply = await run(call)
    away.isAway = call.script.name === away.from
    if (away.isAway) throw new ConnectionLostError('away', true)
    return reply
  }
  driver.close = async () => undefined
  const runtime = new Runtime(driver, 'cache-test', deadlineMs)
  onTestFinished(() => runtime.close())
  return { cache: new Cache<string>(runtime, name, options), other, away }
}

test('a get returns the loaded value although Redis takes longer to store it', async () => {
  const { cache, other, away } = await scene(20_000, PATIENT)
  const load = (): string => {
    away.isAway = true
    return 'loaded'
  }

  expect(await cache.get('a', load)).toBe('loaded')

  away.isAway = false
  await expect.poll(async () => (await other.inspect('a')).load).toBeNull()
})

test('a get rejects with the error of the loader although Redis does not answer', async () => {
  const { cache, away } = await scene(20_000, PATIENT)
  const load = (): never => {
    away.isAway = true
    throw new TypeError('no route')
  }

  await expect(cache.get('a', load)).rejects.toThrow('no route')
})

test('an unanswered election is given up when Redis is back, without waiting for its lease', async () => {
  const { cache, other, away } = await scene(300, { storeWithin: '200ms', lease: '1h' })
  away.from = 'cache/elect'
  expect(await cache.get('a', () => 'without')).toBe('without')
  expect((await other.inspect('a')).load).not.toBeNull()
  away.from = ''
  // The first call and its retries until the deadline have ended.
  await sleep(500)
  expect((await other.inspect('a')).load).not.toBeNull()
  away.isAway = false

  await expect.poll(async () => (await other.inspect('a')).load, { timeout: 10_000 }).toBeNull()
})
