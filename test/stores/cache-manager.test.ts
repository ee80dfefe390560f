// cache-manager on the store of Keyv: the real one.

import { createCache } from 'cache-manager'
import { Keyv } from 'keyv'
import { keyvStore } from 'perilune/keyv'
import { expect, test } from 'vitest'
import { setup } from './fixture.ts'

type Manager = ReturnType<typeof createCache>

function managed(): { manager: Manager; another(): Manager } {
  const { redis, name } = setup()
  const another = (): Manager =>
    createCache({ stores: [new Keyv({ store: keyvStore(redis.cache(name)) })], ttl: 60_000 })
  return { manager: another(), another }
}

test('a value that one process has set is found by another one', async () => {
  const { manager, another } = managed()

  await manager.set('user:1', { name: 'Ada' })
  await manager.mset([
    { key: 'a', value: 1 },
    { key: 'b', value: null, ttl: 5000 },
  ])

  const other = another()
  expect(await other.get('user:1')).toEqual({ name: 'Ada' })
  expect(await other.mget(['b', 'nothing', 'a'])).toEqual([null, undefined, 1])
  expect((await other.ttl('a')) ?? 0).toBeGreaterThan(0)
})

test('a value is created once and then found, until it is deleted or everything is cleared', async () => {
  const { manager } = managed()
  let made = 0
  const wrapped = (): Promise<number> => manager.wrap('k', async () => (made += 1), 30_000)

  expect([await wrapped(), await wrapped()]).toEqual([1, 1])
  await manager.del('k')
  expect([await wrapped(), await wrapped()]).toEqual([2, 2])
  await manager.mdel(['k', 'other'])
  expect(await wrapped()).toBe(3)
  await manager.clear()
  expect(await wrapped()).toBe(4)
})

test('a value ends with its TTL', async () => {
  const { manager } = managed()

  await manager.set('k', 1, 30)

  await expect.poll(() => manager.get('k')).toBe(undefined)
})
