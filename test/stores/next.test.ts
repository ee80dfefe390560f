// The cache handler of Next.js, asked by the cache of the real Next.js.

import { randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import type {
  CacheHandler,
  IncrementalCache as NextIncrementalCache,
} from 'next/dist/server/lib/incremental-cache/index.js'
import type { IncrementalCacheValue } from 'next/dist/server/response-cache/types.js'
import { DriverError } from 'perilune'
import { type NextCache, type NextCacheHandlerOptions, nextCacheHandler } from 'perilune/next'
import { testClock } from 'perilune/testing'
import { expect, test } from 'vitest'
import { setup, unreachable } from './fixture.ts'

type Construction = ConstructorParameters<typeof NextIncrementalCache>[0]
const { IncrementalCache } = createRequire(import.meta.url)(
  'next/dist/server/lib/incremental-cache/index.js',
) as { IncrementalCache: typeof NextIncrementalCache }

const PAGE = {
  kind: 'APP_PAGE',
  isFallback: false,
  route: { kind: 'APP_PAGE', sourceRoute: '/page' },
} as never
const FETCH = { kind: 'FETCH', revalidate: 60, tags: ['posts'], softTags: ['_N_T_/blog'] } as never
const CONTROL = { revalidate: 60, expire: 3600 }

/** The cache of one process of Next.js; one is made for each request. */
type Process = () => NextIncrementalCache

function processOf(handler: typeof CacheHandler): Process {
  const preview = { previewModeId: 'id', previewModeSigningKey: 'key', previewModeEncryptionKey: 'key' }
  const prerenderManifest = { version: 4, routes: {}, dynamicRoutes: {}, notFoundRoutes: [], preview }
  const given = { dev: false, requestHeaders: {}, previewProps: preview, prerenderManifest }
  return () => new IncrementalCache({ ...given, CurCacheHandler: handler } as unknown as Construction)
}

function processes(options?: NextCacheHandlerOptions): [Process, Process] {
  const { redis, name } = setup()
  const make = (): Process => processOf(nextCacheHandler<IncrementalCacheValue>(redis.cache(name), options))
  return [make(), make()]
}

/** Two whose calls meet servers with these clocks, as those of a cluster may have. */
function processesAt(oneMs: number, otherMs: number): [Process, Process] {
  const name = randomUUID()
  const make = (ms: number): Process => {
    const { redis } = setup()
    testClock(redis, { startsAt: new Date(ms) })
    return processOf(nextCacheHandler<IncrementalCacheValue>(redis.cache(name)))
  }
  return [make(oneMs), make(otherMs)]
}

function page(tags: string, html = '<p>'): IncrementalCacheValue {
  return {
    kind: 'APP_PAGE',
    html,
    rscData: Buffer.from([0, 255, 7]),
    headers: { 'x-next-cache-tags': tags, link: ['a', 'b'] },
    postponed: undefined,
    status: 200,
    segmentData: new Map([['/_tree', Buffer.from([1, 2])]]),
  } as unknown as IncrementalCacheValue
}

async function storePage(
  cache: NextIncrementalCache,
  key: string,
  tags: string,
  control: object = CONTROL,
): Promise<void> {
  const context = {
    isFallback: false,
    cacheControl: control,
    route: { kind: 'APP_PAGE', sourceRoute: '/page' },
  }
  await cache.set(key, page(tags) as never, context as never)
}

async function storeFetch(cache: NextIncrementalCache, key: string): Promise<void> {
  const data = { headers: {}, body: '{"a":1}', url: 'https://a.example/', status: 200 }
  const value = { kind: 'FETCH', data, revalidate: 60 } as never
  await cache.set(key, value, { fetchCache: true, tags: ['posts'] } as never)
}

test('a page that one process has rendered is served by another one, bytes and all', async () => {
  const [one, other] = processes()

  await storePage(one(), '/blog', 'a,b')

  const entry = await other().get('/blog', PAGE)
  expect(entry).toMatchObject({ isStale: undefined, cacheControl: CONTROL })
  expect(entry?.value).toMatchObject({
    kind: 'APP_PAGE',
    html: '<p>',
    status: 200,
    rscData: Buffer.from([0, 255, 7]),
  })
  expect(entry?.value).toHaveProperty('segmentData', new Map([['/_tree', Buffer.from([1, 2])]]))
  expect(await other().get('/other', PAGE)).toBe(null)
})

test('a route handler, a redirect and a missing page are kept', async () => {
  const [one, other] = processes()
  const context = {
    isFallback: false,
    cacheControl: CONTROL,
    route: { kind: 'APP_ROUTE', sourceRoute: '/r' },
  } as never
  const kinds = { kind: 'APP_ROUTE', body: Buffer.from('{}'), status: 201, headers: { etag: 'x' } }
  await one().set('/r', kinds as never, context)
  await one().set('/moved', { kind: 'REDIRECT', props: { to: '/' } } as never, context)
  await one().set('/gone', null, context)

  const asked = {
    kind: 'APP_ROUTE',
    isFallback: false,
    route: { kind: 'APP_ROUTE', sourceRoute: '/r' },
  } as never
  expect((await other().get('/r', asked))?.value).toEqual(kinds)
  expect((await other().get('/moved', asked))?.value).toEqual({ kind: 'REDIRECT', props: { to: '/' } })
  expect(await other().get('/gone', asked)).toMatchObject({ value: null })
})

test('a page that is too old is served as stale, and one past its end is rendered again first', async () => {
  const [one, other] = processes()
  await storePage(one(), '/soon', 'a', { revalidate: 0.001, expire: 3600 })
  await storePage(one(), '/over', 'a', { revalidate: 0.001, expire: 0.002 })

  await expect.poll(async () => (await other().get('/soon', PAGE))?.isStale).toBe(true)
  // Either Redis has dropped it already, or Next.js gets it as expired.
  await expect.poll(async () => (await other().get('/over', PAGE))?.isStale ?? -1).toBe(-1)
})

test('a revalidated tag ends its pages of all processes, and no others', async () => {
  const [one, other] = processes()
  await storePage(one(), '/blog', 'a,b')
  await storePage(one(), '/about', 'c')
  await nextMillisecond()

  await other().revalidateTag('b')

  expect(await one().get('/blog', PAGE)).toBe(null)
  expect(await one().get('/about', PAGE)).not.toBe(null)
  await nextMillisecond()
  await storePage(one(), '/blog', 'a,b')
  expect(await other().get('/blog', PAGE)).not.toBe(null)
})

test('a tag that may be stale for a while is served meanwhile, and ends then', async () => {
  const [one, other] = processes()
  for (const path of ['/blog', '/short']) await storePage(one(), path, path)
  await storePage(one(), '/static', '/static', { revalidate: false, expire: undefined })
  await storeFetch(one(), 'f')
  await nextMillisecond()

  await other().revalidateTag(['/blog', '/static', 'posts'], { expire: 3600 })
  await other().revalidateTag('/short', { expire: 0.005 })

  expect((await one().get('/blog', PAGE))?.isStale).toBe(true)
  expect((await one().get('f', FETCH))?.isStale).toBe(true)
  // Served stale, and then rendered again in the background; the new page is static again.
  expect((await one().get('/static', PAGE))?.isStale).toBe(true)
  await expect.poll(() => one().get('/short', PAGE)).toBe(null)

  await nextMillisecond()
  await storePage(one(), '/static', '/static', { revalidate: false, expire: undefined })
  expect(await one().get('/static', PAGE)).toMatchObject({
    isStale: undefined,
    cacheControl: { revalidate: false },
  })
})

test('a hard revalidation is not undone by a soft one', async () => {
  const [one, other] = processes()
  await storePage(one(), '/blog', 'a')
  await nextMillisecond()
  await one().revalidateTag('a')
  await one().revalidateTag('a', { expire: 3600 })

  expect(await other().get('/blog', PAGE)).toBe(null)
})

test('a fetch is found by its tags, and ends with those of its page, too', async () => {
  const [one, other] = processes()
  await storeFetch(one(), 'f')
  await storeFetch(one(), 'g')

  expect(await other().get('f', FETCH)).toEqual({
    isStale: false,
    value: { kind: 'FETCH', revalidate: 60, data: expect.objectContaining({ body: '{"a":1}' }) },
  })
  await nextMillisecond()
  await other().revalidateTag(['_N_T_/blog'])
  expect(await one().get('f', FETCH)).toBe(null)
  expect(await one().get('g', { kind: 'FETCH', revalidate: 60, tags: ['posts'] } as never)).not.toBe(null)
  await other().revalidateTag('posts')
  expect(await one().get('g', { kind: 'FETCH', revalidate: 60 } as never)).toBe(null)
})

test('more tags than a value of a cache may have, and long ones, are judged', async () => {
  const [one, other] = processes()
  const tags = Array.from({ length: 100 }, (_, n) => `${n}:${'t'.repeat(600)}`)
  await storePage(one(), '/blog', tags.join(','))
  await nextMillisecond()
  expect(await other().get('/blog', PAGE)).not.toBe(null)

  await other().revalidateTag(tags[99] ?? '')

  expect(await one().get('/blog', PAGE)).toBe(null)
})

test('while Redis is away pages are rendered, and a revalidation fails', async () => {
  const errors: unknown[] = []
  const cache = unreachable().cache('c', { storeWithin: '100ms' })
  const handler = nextCacheHandler<IncrementalCacheValue>(cache, { onError: (error) => errors.push(error) })
  const next = processOf(handler)

  expect(await next().get('/blog', PAGE)).toBe(null)
  await storePage(next(), '/blog', 'a')
  expect(await next().get('/blog', PAGE)).toBe(null)
  // One request asks, and no other for a second.
  expect(errors).toHaveLength(1)
  await expect(next().revalidateTag('a')).rejects.toThrow()
})

test.each([5, 3600])(
  'a revalidation by a clock that is %i s behind ends earlier entries',
  async (seconds) => {
    const [one, other] = processesAt(Date.now(), Date.now() - seconds * 1000)
    await storePage(one(), '/blog', 'a')
    await storePage(one(), '/about', 'b')
    await storeFetch(one(), 'f')

    await other().revalidateTag('a')
    await other().revalidateTag('posts', { expire: 3600 })

    for (const next of [one, other]) {
      expect(await next().get('/blog', PAGE)).toBe(null)
      expect(await next().get('/about', PAGE)).not.toBe(null)
      expect((await next().get('f', FETCH))?.isStale ?? true).toBe(true)
    }
    await storePage(one(), '/blog', 'a')
    expect(await one().get('/blog', PAGE)).not.toBe(null)
  },
)

test('of many concurrent revalidations in two processes, each ends earlier entries', async () => {
  const [one, other] = processesAt(Date.now(), Date.now() - 5000)
  const paths = Array.from({ length: 20 }, (_, n) => `/${n}`)
  for (const path of paths) await storePage(one(), path, path)

  await Promise.all(paths.map((path, n) => (n % 2 === 0 ? one : other)().revalidateTag(path)))

  for (const path of paths) expect(await other().get(path, PAGE), path).toBe(null)
})

test('of many concurrent revalidations each takes one turn, or shares that of another', async () => {
  const { redis, name } = setup()
  const cache = redis.cache(name)
  const keys: string[] = []
  const find: NextCache['getEntry'] = (key) => cache.getEntry(key)
  const set: NextCache['set'] = (key, value, options) => {
    keys.push(key)
    return cache.set(key, value, options)
  }
  const next = processOf(nextCacheHandler<IncrementalCacheValue>({ getEntry: find, set }))
  await next().revalidateTag('first')
  await storePage(next(), '/blog', '50')

  await Promise.all(Array.from({ length: 100 }, (_, tag) => next().revalidateTag(String(tag))))

  expect(keys.filter((key) => key === 'turns').length).toBeLessThanOrEqual(101)
  expect(await next().get('/blog', PAGE)).toBe(null)
})

test('after the cache was cleared revalidations continue', async () => {
  const { redis, name } = setup()
  const next = processOf(nextCacheHandler<IncrementalCacheValue>(redis.cache(name)))
  await next().revalidateTag('a')
  await redis.cache(name).clear()

  await storePage(next(), '/blog', 'a')
  await nextMillisecond()
  expect(await next().get('/blog', PAGE)).not.toBe(null)
  await next().revalidateTag('a')
  expect(await next().get('/blog', PAGE)).toBe(null)
})

test('pages are kept again when the server has lost the newest turns, and not the revalidations that took them', async () => {
  const { redis, name } = setup()
  const [notes, after] = [redis.cache(name), redis.cache(`${name} after`)]
  let turns = redis.cache(`${name} before`)
  const placeOf = (key: string): typeof notes => (key === 'turns' ? turns : notes)
  const find: NextCache['getEntry'] = (key) => placeOf(key).getEntry(key)
  const set: NextCache['set'] = (key, value, options) => placeOf(key).set(key, value, options)
  const next = processOf(nextCacheHandler<IncrementalCacheValue>({ getEntry: find, set }))
  await next().revalidateTag('other')
  const replica = await turns.getEntry('turns')
  await next().revalidateTag('a')
  await after.set('turns', replica?.value, { version: 1, ttl: '1d' })
  turns = after
  await nextMillisecond()

  await storePage(next(), '/blog', 'a')
  expect(await next().get('/blog', PAGE)).toBe(null)
  await storePage(next(), '/blog', 'a')
  expect(await next().get('/blog', PAGE)).not.toBe(null)

  await next().revalidateTag('a')
  expect(await next().get('/blog', PAGE)).toBe(null)
})

test('an entry and a revalidation of an earlier version are judged by the clock', async () => {
  const { redis, name } = setup()
  const cache = redis.cache(name)
  const find: NextCache['getEntry'] = (key) => cache.getEntry(key)
  const set: NextCache['set'] = (key, value, options) => {
    const { turn: _, ...rest } = value as { turn?: unknown }
    return cache.set(key, rest, options)
  }
  const before = processOf(nextCacheHandler<IncrementalCacheValue>({ getEntry: find, set }))
  const next = processOf(nextCacheHandler<IncrementalCacheValue>(cache))
  for (const path of ['/one', '/other']) await storePage(before(), path, path)
  await nextMillisecond()
  await before().revalidateTag('/one')
  await next().revalidateTag('/other')

  for (const path of ['/one', '/other']) expect(await next().get(path, PAGE)).toBe(null)
  await nextMillisecond()
  await storePage(next(), '/one', '/one')
  expect(await before().get('/one', PAGE)).not.toBe(null)
})

test.each([600, -600])(
  'the server measures the age of an entry, also for a process whose clock is %i s off',
  async (seconds) => {
    const { redis, name } = setup()
    const clock = testClock(redis, { startsAt: new Date(Date.now() + seconds * 1000) })
    const next = processOf(nextCacheHandler<IncrementalCacheValue>(redis.cache(name)))
    await storePage(next(), '/blog', 'a')
    expect((await next().get('/blog', PAGE))?.isStale).toBe(undefined)

    clock.advance('50s')
    expect((await next().get('/blog', PAGE))?.isStale).toBe(undefined)
    clock.advance('11s')
    expect((await next().get('/blog', PAGE))?.isStale).toBe(true)
  },
)

test('while Redis is full stored pages are served, and the rest is rendered', async () => {
  const { redis, name } = setup()
  const cache = redis.cache(name)
  let isFull = false
  const set: NextCache['set'] = (key, value, options) =>
    isFull
      ? Promise.reject(new DriverError('store-full', 'the server is full'))
      : cache.set(key, value, options)
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const next = processOf(
    nextCacheHandler<IncrementalCacheValue>({ getEntry: (key) => cache.getEntry(key), set }, { onError }),
  )
  await storePage(next(), '/hot', 'a')
  isFull = true

  for (let visitor = 0; visitor < 3; visitor++) {
    await storePage(next(), `/cold/${visitor}`, 'b')
    expect(await next().get('/hot', PAGE)).not.toBe(null)
  }
  expect(await next().get('/cold/0', PAGE)).toBe(null)
  expect(errors, 'reported once a second').toHaveLength(1)
})

/** Events within one millisecond have no order. */
async function nextMillisecond(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 3))
}
