import { setTimeout as sleep } from 'node:timers/promises'
import { Cache, type L1Options } from 'perilune/cache'
import { expect, test } from 'vitest'
import { type Setup, setup } from '../../test/cache-fixture.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'

/** Caches with copies in this process, each with a copy of `a`. */
async function caches(
  { runtime, name }: Setup<string>,
  count: number,
  l1: L1Options,
): Promise<Cache<string>[]> {
  const made = Array.from(
    { length: count },
    (_, at) => new Cache<string>(runtime, `${name}-${at}`, { ttl: '1h', early: false, l1 }),
  )
  for (const cache of made) {
    await expect.poll(async () => (await cache.get('a', () => 'old')) && cache.inspectL1()?.count).toBe(1)
  }
  return made
}

function subscriptionsOf({ runner: { driver } }: Runtime): string[] {
  const channels: string[] = []
  const subscribe = driver.subscribe.bind(driver)
  driver.subscribe = (channel, listener) => {
    channels.push(channel)
    return subscribe(channel, listener)
  }
  return channels
}

test('a message about a key reaches the cache that has it, and no other of many', async () => {
  const made = await setup<string>({ clock: 'real' })
  const channels = subscriptionsOf(made.runtime)
  const all = await caches(made, 30, { count: 10, age: '1h' })
  const { runtime } = made.another()

  await new Cache<string>(runtime, `${made.name}-7`).invalidate('a')

  await expect.poll(() => all[7]?.inspectL1()?.count).toBe(0)
  expect(all.filter((cache) => cache.inspectL1()?.count === 1)).toHaveLength(29)
  expect(channels.filter((channel) => channel.endsWith(':levels'))).toHaveLength(1)
})

test('expired copies are removed when other caches begin to keep some', async () => {
  const made = await setup<string>({ clock: 'real' })
  const old = await caches(made, 4, { count: 10, age: '500ms' })
  await sleep(500)

  await caches({ ...made, name: `${made.name}-other` }, 4, { count: 10, age: '1h' })

  expect(old.map((cache) => cache.inspectL1()?.count)).toEqual([0, 0, 0, 0])
})
