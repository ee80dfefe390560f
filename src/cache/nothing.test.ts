// Missing values, and how long they are cached.

import type { Cache } from 'perilune/cache'
import { describe, expect, test } from 'vitest'
import { setup } from '../../test/cache-fixture.ts'
import type { Freshness } from './options.ts'

test('with negativeTtl 0 a load that finds nothing removes the value, even if it could be served longer', async () => {
  const { cache, clock } = await setup<string | null>({
    negativeTtl: '0s',
    ttl: '1s',
    staleWhileRevalidate: '1h',
  })
  await cache.set('a', 'there')
  await clock.advance(1500)
  expect(await cache.get('a', () => null)).toBe('there')
  await expect.poll(async () => (await cache.getEntry('a'))?.value).not.toBe('there')
  await clock.advance(1)

  expect(await cache.getEntry('a')).toBeNull()
  expect(await cache.get('a', () => 'newer')).toBe('newer')
})

describe.each<[string, (cache: Cache<string | null>, options?: Freshness) => Promise<unknown>]>([
  ['set', (cache, options) => cache.set('a', null, options)],
  [
    'complete',
    async (cache, options) => {
      const load = await cache.loadDetached('a')
      return load.status === 'elected' && cache.byToken.complete('a', load.load, null, options)
    },
  ],
  [
    'a loader',
    (cache, options) =>
      cache.get('a', (context) => {
        context.keep(options ?? {})
        return null
      }),
  ],
])('a missing value, stored by %s,', (_, storeNothing) => {
  const spanIn = async (cache: Cache<string | null>): Promise<number | null> => {
    const found = await cache.getEntry('a')
    return found === null ? null : found.freshUntilMs - found.createdAtMs
  }

  test('is cached for negativeTtl, unless it has its own ttl', async () => {
    const { cache } = await setup<string | null>({ negativeTtl: '5s', ttl: '1h' })
    await storeNothing(cache)
    expect(await spanIn(cache)).toBe(5000)
    await cache.invalidate('a')
    await storeNothing(cache, { ttl: '7s' })

    expect(await spanIn(cache)).toBe(7000)
  })

  test('is not cached with negativeTtl 0, and removes the existing value', async () => {
    const { cache, clock } = await setup<string | null>({
      negativeTtl: '0s',
      ttl: '1s',
      staleWhileRevalidate: '1h',
      patience: '5s',
    })
    await cache.set('a', 'there')
    await clock.advance(1500)
    await storeNothing(cache)
    await clock.advance(1)

    expect(await spanIn(cache)).toBeNull()
  })

  test('is not cached with negativeTtl 0, even with its own staleWhileRevalidate', async () => {
    const { cache, clock } = await setup<string | null>({ negativeTtl: '0s' })
    await storeNothing(cache, { staleWhileRevalidate: '1h' })
    await clock.advance(1)

    expect(await spanIn(cache)).toBeNull()
    expect(await cache.get('a', () => 'there')).toBe('there')
  })
})
