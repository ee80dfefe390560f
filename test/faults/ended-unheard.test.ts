// A release that no server hears, and that no caller repeats: the library repeats it until the server knows.

import { AmbiguousError, perilune } from 'perilune'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ConnectionLostError, type Driver } from '../../src/driver.ts'
import { instance } from '../instance.ts'
import { KINDS, scene } from '../lease-fixture.ts'

/** An instance whose server hears nothing of what these scripts say, as long as `isAway`; and another one. */
function deaf(scripts: RegExp) {
  const { redis, driver, name } = instance()
  const outage = { isAway: false }
  const run: Driver['run'] = driver.run.bind(driver)
  driver.run = async (call) => {
    if (outage.isAway && scripts.test(call.script.name)) throw new AmbiguousError('a call')
    return run(call)
  }
  return { redis, name, outage, other: instance().redis }
}

describe.each(Object.entries(KINDS))('%s', (_, kind) => {
  test('whose block ends while the server is away is free once it is back', async () => {
    const { redis, other, name, proxy } = await scene()
    const lease = await kind.take(redis, name, { lease: '1h' })
    proxy.halfOpen()
    await expect(lease[Symbol.asyncDispose]()).rejects.toThrow(AmbiguousError)
    proxy.heal()
    proxy.resetAll()

    await kind.takeOver(other, name)
  })
})

test('a job whose block ends while the server is away is available once it is back, as if it had not been claimed', async () => {
  const { redis, other, name, outage } = deaf(/^queue\/release/)
  const queue = other.queue<{ mail: string }>(name)
  await queue.enqueue('mail', 'one', { maxAttempts: 1 })
  const [job] = await redis.queue(name).claim({ lease: '1h' })
  outage.isAway = true
  await expect(job?.[Symbol.asyncDispose]()).rejects.toThrow()
  outage.isAway = false

  expect(await queue.claim({ wait: '20s' })).toMatchObject([{ attempt: 1 }])
})

test('messages whose block ends while the server is away are available once it is back', async () => {
  const { redis, other, name, outage } = deaf(/^feed\/release/)
  await other.feed(name).append('one')
  const claim = await redis.feed(name).claim({ lease: '1h' })
  outage.isAway = true
  await expect(claim?.[Symbol.asyncDispose]()).rejects.toThrow()
  outage.isAway = false

  expect((await other.feed(name).claim({ wait: '20s' }))?.messages).toMatchObject([{ body: 'one' }])
})

test('a leadership whose term has ended is given up', async () => {
  const { redis, other, name, outage } = deaf(/^lock\/release/)
  let terms = 0
  const campaign = redis.election(name, { lease: '1h' }).campaign(() => {
    terms += 1
    outage.isAway = true
  })
  await expect.poll(() => terms).toBe(1)
  await campaign.close()
  expect(await other.election(name).leader()).not.toBeNull()
  outage.isAway = false

  await expect.poll(async () => other.election(name).leader()).toBeNull()
})

test('a load that failed keeps no waiter for the length of its lease', async () => {
  const { redis, other, name, outage } = deaf(/^cache\/fail/)
  const load = redis.cache(name, { lease: '1h' }).get('key', () => {
    outage.isAway = true
    throw new Error('mine')
  })
  await expect(load).rejects.toThrow('mine')
  outage.isAway = false

  const get = async () =>
    other
      .cache<string>(name)
      .get('key', () => 'another')
      .catch(() => null)
  await expect.poll(get).toBe('another')
})

test('a load granted to a caller that never heard of it in an outage keeps no waiter for the length of its lease', async () => {
  const { driver, name } = instance()
  const { redis: other } = instance()
  const outage = { isAway: false }
  const run: Driver['run'] = driver.run.bind(driver)
  driver.run = async (call) => {
    if (outage.isAway) throw new ConnectionLostError('the server is away', false)
    const reply = await run(call)
    if (call.script.name !== 'cache/elect') return reply
    outage.isAway = true
    throw new ConnectionLostError('its answer is lost', true)
  }
  const redis = perilune(driver, { namespace: 'instance-test', deadline: '100ms' })
  onTestFinished(() => redis.close())

  await redis.cache(name, { lease: '1h' }).get('key', () => 'mine')
  await new Promise((resolve) => setTimeout(resolve, 500))
  driver.run = run

  expect(await other.cache<string>(name).get('key', () => 'another')).toBe('another')
})
