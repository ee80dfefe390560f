// What ends while no server hears it, and nobody is there to say it again: it is said until the server knows.

import { AmbiguousError } from 'perilune'
import { describe, expect, test } from 'vitest'
import type { Driver } from '../../src/driver.ts'
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

test('an office is given up whose term has ended', async () => {
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

test('a load that failed keeps nobody waiting for its lease', async () => {
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
