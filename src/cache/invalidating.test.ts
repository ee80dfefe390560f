import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { setup } from '../../test/cache-fixture.ts'
import { instance } from '../../test/instance.ts'
import { gate } from '../../test/once-fixture.ts'
import { ConnectionLostError } from '../driver.ts'

test('a get after an invalidation never joins the load that began before it', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const before = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'old'
  })
  await began.opened
  await another().cache.invalidate('a')
  const after = cache.get('a', () => 'new')
  const afterElsewhere = another().cache.get('a', () => 'new')
  await sleep(50)
  held.open()

  expect(await before).toBe('old')
  expect(await after).toBe('new')
  expect(await afterElsewhere).toBe('new')
  expect((await cache.getEntry('a'))?.value).toBe('new')
})

test.each(['invalidate', 'invalidate a tag', 'set', 'clear'])(
  'a get after it does not join a load without Redis that began before: %s',
  async (what) => {
    const { cache, runtime } = await setup<string>({ storeWithin: '200ms' })
    const { driver } = runtime.runner
    const { read, run } = driver
    const gone = new ConnectionLostError('gone', false)
    driver.read = (calls) => calls.map(() => Promise.reject(gone))
    driver.run = () => Promise.reject(gone)
    const [began, held] = [gate(), gate()]
    const before = cache.get('a', async () => {
      began.open()
      await held.opened
      return 'old'
    })
    await began.opened
    Object.assign(driver, { read, run })
    if (what === 'set') await cache.set('b', 'else').then(() => cache.set('a', 'new', { ttl: '1ms' }))
    else if (what === 'clear') await cache.clear()
    else await cache.invalidate(what === 'invalidate' ? 'a' : { tag: 't' })
    // Redis is still considered unavailable: this get loads by itself, too.
    Object.assign(driver, { read: () => [Promise.reject(gone)], run: () => Promise.reject(gone) })
    const after = await cache.get('a', () => 'new')
    held.open()

    expect(after).toBe('new')
    expect(await before).toBe('old')
    Object.assign(driver, { read, run })
  },
)

test('a get after an invalidation does not join a load that was stored before it, either', async () => {
  const { redis, slowly, name } = instance()
  slowly('cache/store', 500)
  const cache = redis.cache<string>(name)
  const before = cache.get('a', () => 'old')
  await expect.poll(() => cache.getEntry('a')).not.toBeNull()

  await cache.invalidate('a')

  expect(await cache.get('a', () => 'new')).toBe('new')
  expect(await before).toBe('old')
})

test('an invalidated key is loaded again', async () => {
  const { cache, another } = await setup<number>()
  await cache.get('a', () => 1)
  await cache.get('b', () => 1)

  expect(await another().cache.invalidate(['a', 'b', 'c'])).toBe(2)

  expect(await cache.get('a', () => 2)).toBe(2)
  expect(await cache.getEntry('b')).toBeNull()
})

test('an invalidated tag invalidates all its values, in every process', async () => {
  const { cache, another } = await setup<number>()
  const tags = ['t']
  await cache.get('a', () => 1, { tags })
  await cache.get('b', () => 1)

  await another().cache.invalidate({ tag: 't' })

  expect(await cache.getEntry('a')).toBeNull()
  expect(await cache.get('a', () => 2, { tags })).toBe(2)
  expect(await cache.get('a', () => 3, { tags })).toBe(2)
  expect(await cache.get('b', () => 2)).toBe(1)
  expect((await cache.inspect('a')).tags).toEqual(['t'])
})

test('a get after a tag was invalidated does not join an earlier load', async () => {
  const { cache, another } = await setup<string>()
  const tags = ['t']
  const [began, held] = [gate(), gate()]
  const before = cache.get(
    'a',
    async () => {
      began.open()
      await held.opened
      return 'old'
    },
    { tags },
  )
  await began.opened
  await another().cache.invalidate({ tag: 't' })
  const after = cache.get('a', () => 'new', { tags })
  await sleep(50)
  held.open()

  expect(await before).toBe('old')
  expect(await after).toBe('new')
})

test('a value stored with other tags is a miss', async () => {
  const { cache } = await setup<number>()
  await cache.get('a', () => 1, { tags: ['t'] })

  expect(await cache.get('a', () => 2)).toBe(2)
  expect(await cache.get('a', () => 3, { tags: ['t'] })).toBe(3)
})

test('a set replaces a load under way', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const loading = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'loaded'
  })
  await began.opened
  await another().cache.set('a', 'set')
  held.open()
  await loading

  expect(await cache.get('a', () => 'again')).toBe('set')
})

test('a set with an older version is refused', async () => {
  const { cache } = await setup<string>()

  expect(await cache.set('a', 'seven', { version: 7 })).toMatchObject({ stored: true })
  expect(await cache.set('a', 'six', { version: 6 })).toEqual({ stored: false, version: 7 })
  expect(await cache.get('a', () => 'loaded')).toBe('seven')
})

test('after a clear no process serves a value from before', async () => {
  const { cache, another } = await setup<string>()
  const other = another().cache
  const tags = ['t']
  for (const each of [cache, other]) {
    await each.get('a', () => 'old')
    await each.get('b', () => 'old', { tags })
  }

  await another().cache.clear()

  expect(await other.getEntry('a')).toBeNull()
  expect(await cache.get('a', () => 'new')).toBe('new')
  expect(await other.get('a', () => 'newer')).toBe('new')
  expect(await other.get('b', () => 'new', { tags })).toBe('new')
  expect((await cache.inspect('b')).tags).toEqual(['t'])
})

test('a load that began before a clear is not stored and not joined', async () => {
  const { cache, another } = await setup<string>()
  const [began, held] = [gate(), gate()]
  const before = cache.get('a', async () => {
    began.open()
    await held.opened
    return 'old'
  })
  await began.opened
  await another().cache.clear()
  const after = cache.get('a', () => 'new')
  await sleep(50)
  held.open()

  expect(await before).toBe('old')
  expect(await after).toBe('new')
  expect((await another().cache.getEntry('a'))?.value).toBe('new')
})

test('a cache under constant reads reads its generation once a second at most', async () => {
  const { cache, runtime } = await setup<string>()
  await cache.get('a', () => 'a')
  const { driver } = runtime.runner
  const read = driver.read.bind(driver)
  const keys: string[] = []
  driver.read = (calls) => {
    keys.push(...calls.map(({ args }) => String(args[0])))
    return read(calls)
  }

  const endsAt = performance.now() + 1100
  let gets = 0
  for (; performance.now() < endsAt; gets++) await cache.get('a', () => 'again')

  expect(keys.filter((key) => key.endsWith(':value'))).toHaveLength(gets)
  expect(keys.filter((key) => key.endsWith(':generation')).length).toBeLessThanOrEqual(3)
})
