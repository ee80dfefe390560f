// Redis falls silent in the middle of a load: when it elects, and when the loader has ended.

import { setTimeout as sleep } from 'node:timers/promises'
import { Cache, type CacheOptions } from 'perilune/cache'
import { ioredis } from 'perilune/ioredis'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from '../../test/cache-fixture.ts'
import { counting } from '../../test/counting-driver.ts'
import { ConnectionLostError } from '../driver.ts'
import { Runtime } from '../runtime/connection/runtime.ts'

const PATIENT = { storeWithin: '100ms', lease: '1h', wait: '5s' } as const

/** A process whose server, while it is away, answers none of its scripts; from outside it is seen by `other`. */
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

test('who waits for a loader has its value though Redis takes longer than that to keep it', async () => {
  const { cache, other, away } = await scene(20_000, PATIENT)
  const load = (): string => {
    away.isAway = true
    return 'loaded'
  }

  expect(await cache.get('a', load)).toBe('loaded')

  away.isAway = false
  await expect.poll(async () => (await other.inspect('a')).load).toBeNull()
})

test('who waits for a loader has its error though Redis hears nothing of it', async () => {
  const { cache, away } = await scene(20_000, PATIENT)
  const load = (): never => {
    away.isAway = true
    throw new TypeError('no route')
  }

  await expect(cache.get('a', load)).rejects.toThrow('no route')
})

test('an election that nobody learnt of is given up when Redis is back, and nobody waits for its lease', async () => {
  const { cache, other, away } = await scene(300, { storeWithin: '200ms', lease: '1h' })
  away.from = 'cache/elect'
  expect(await cache.get('a', () => 'without')).toBe('without')
  expect((await other.inspect('a')).load).not.toBeNull()
  away.from = ''
  // What is said at once, and until its deadline, is over.
  await sleep(500)
  expect((await other.inspect('a')).load).not.toBeNull()
  away.isAway = false

  await expect.poll(async () => (await other.inspect('a')).load, { timeout: 10_000 }).toBeNull()
})
