import { setTimeout as sleep } from 'node:timers/promises'
import { InvalidArgumentError } from 'perilune'
import { expect, test } from 'vitest'
import { setup } from '../../test/cache-fixture.ts'
import { gate } from '../../test/once-fixture.ts'

test('getMany loads all keys of this process in one call', async () => {
  const { cache } = await setup<string>()
  await cache.set('b', 'kept')
  const asked: (readonly string[])[] = []

  const values = await cache.getMany(['a', 'b', 'c', 'a'], (keys) => {
    asked.push(keys)
    return new Map(keys.filter((key) => key === 'a').map((key) => [key, `new ${key}`]))
  })

  expect([...values]).toEqual([
    ['a', 'new a'],
    ['b', 'kept'],
    ['c', undefined],
  ])
  expect(asked).toEqual([['a', 'c']])
})

test.each([undefined, null, { a: 1 }, [['a', 1]]])(
  'a loader of getMany that returns %o is rejected',
  async (given) => {
    const { cache } = await setup<number>()
    const loading = cache.getMany(['a'], () => given as never)

    await expect(loading).rejects.toThrow(InvalidArgumentError)
    await expect(loading).rejects.toThrow('loadMany must return a Map')
  },
)

test('getMany serves stale values and refreshes all of them in one call', async () => {
  const { cache, clock } = await setup<number>({ ttl: '1m', staleWhileRevalidate: '1h' })
  const asked: (readonly string[])[] = []
  const many = (keys: readonly string[]): Map<string, number> => {
    asked.push(keys)
    return new Map(keys.map((key) => [key, asked.length]))
  }
  await cache.getMany(['a', 'b', 'c'], many)
  await clock.advance(60_000)

  expect([...(await cache.getMany(['a', 'b', 'c'], many)).values()]).toEqual([1, 1, 1])
  await expect.poll(async () => (await cache.getEntry('c'))?.value).toBe(2)
  expect(asked).toEqual([
    ['a', 'b', 'c'],
    ['a', 'b', 'c'],
  ])
})

test('getMany waits for loads of another process', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const first = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'theirs'
  })
  await began.opened
  const many = another().cache.getMany(['a', 'b'], (keys) => new Map(keys.map((key) => [key, 'mine'])))
  await sleep(50)
  held.open()
  await first

  expect([...(await many)]).toEqual([
    ['a', 'theirs'],
    ['b', 'mine'],
  ])
})

test('getMany reads few large values at once, also from a cache that this process has just filled', async () => {
  const { cache, runtime } = await setup<string>({ clock: 'real', storeWithin: '20s' })
  const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
  const large = 'x'.repeat(500_000)
  await cache.getMany(keys, (wanted) => new Map(wanted.map((key) => [key, large])))
  const { driver } = runtime.runner
  const read = driver.read.bind(driver)
  const asked: number[] = []
  driver.read = (calls) => {
    asked.push(...calls.map(({ args }) => args.length))
    return read(calls)
  }

  const again = await cache.getMany(keys, () => new Map())

  expect(new Set(again.values())).toEqual(new Set([large]))
  // Four are 2 MB; the mean approaches the stored size.
  expect(Math.max(...asked)).toBeLessThanOrEqual(6)
})
