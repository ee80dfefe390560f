// The response cache around a handler in the style of fetch.

import { randomUUID } from 'node:crypto'
import type { Cache, FoundValue } from 'perilune'
import { type KeptResponse, type ResponseCacheOptions, withResponseCache } from 'perilune/middleware'
import { describe, expect, test } from 'vitest'
import { instance } from '../instance.ts'
import { Deferred } from '../../src/middleware/responses/deferred.ts'
import { unreachable } from './fixture.ts'

type Answering = (run: number, request: Request) => Response | Promise<Response>

interface Service {
  get(headers?: Record<string, string>, path?: string, method?: string): Promise<Response>
  runs(): number
  /** The kept response, once there is one. */
  kept(key?: string): Promise<FoundValue<KeptResponse>>
  readonly cache: Cache<KeptResponse>
  /** The same service in another process, as far as one process can be two. */
  another(): (headers?: Record<string, string>) => Promise<Response>
}

function service(answer: Answering, options: ResponseCacheOptions<Request> = {}, cacheOptions = {}): Service {
  const { redis } = instance()
  const name = randomUUID()
  let runs = 0
  const serve = (cache: Cache<KeptResponse>) => {
    const handle = withResponseCache(cache, options, (request: Request) => answer((runs += 1), request))
    return async (headers: Record<string, string> = {}, path = '/a?b=1', method = 'GET') =>
      handle(new Request(`http://shop.example${path}`, { headers, method }))
  }
  const cache = redis.cache<KeptResponse>(name, cacheOptions)
  return {
    get: serve(cache),
    runs: () => runs,
    kept: async (key = 'http://shop.example/a?b=1') => {
      await expect.poll(() => cache.getEntry(key)).not.toBe(null)
      return (await cache.getEntry(key)) as FoundValue<KeptResponse>
    },
    cache,
    another: () => serve(instance().redis.cache<KeptResponse>(name, cacheOptions)),
  }
}

const text =
  (headers: Record<string, string> = {}, status = 200): Answering =>
  (run) =>
    new Response(status === 204 ? null : `run ${run}`, { status, headers })

/** The bodies of so many requests in turn: they show which run of the handler answered. */
async function bodies(times: number, ask: () => Promise<Response>): Promise<string[]> {
  const found: string[] = []
  for (let n = 0; n < times; n += 1) found.push(await (await ask()).text())
  return found
}

test('the first response is served to all requests for the same page, with its headers, age and cache status', async () => {
  const { get, another, runs } = service(
    text({ 'content-type': 'text/x', link: '</b>', 'x-trace': 'own', 'cache-control': 'max-age=60' }),
  )

  const first = await get()
  const again = await get()
  const elsewhere = await another()()

  expect([await first.text(), first.headers.get('cache-status')]).toEqual(['run 1', 'perilune; fwd=miss'])
  for (const response of [again, elsewhere]) {
    expect(await response.text()).toBe('run 1')
    expect(response.headers.get('cache-status')).toMatch(/^perilune; hit; ttl=(?:59|60)$/)
    expect(Number(response.headers.get('age'))).toBeLessThan(10)
    expect(response.headers.get('content-type')).toBe('text/x')
    expect(response.headers.get('link')).toBe('</b>')
    expect(response.headers.get('x-trace')).toBe(null)
  }
  expect(runs()).toBe(1)
})

test('of a hundred concurrent requests in two processes one reaches the handler', async () => {
  const { get, another, runs } = service(async (run) => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return new Response(`run ${run}`)
  })
  const other = another()

  const all = await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? get() : other())))

  expect(new Set(await Promise.all(all.map((response) => response.text())))).toEqual(new Set(['run 1']))
  expect(runs()).toBe(1)
})

test('paths, queries, hosts and headers that vary have their own entries', async () => {
  const { get, runs } = service(text({ vary: 'Accept-Language' }), { vary: ['Accept-Language'] })
  const asked: [Record<string, string>, string][] = [
    [{}, '/a'],
    [{}, '/a?b'],
    [{}, `/${'long'.repeat(500)}`],
    [{ 'accept-language': 'de' }, '/a'],
  ]

  for (const [headers, path] of asked) await get(headers, path)
  for (const [headers, path] of asked) await get(headers, path)

  expect(runs()).toBe(4)
})

test('a stale response is served while one request renews it', async () => {
  const held = new Deferred<void>()
  const { get, runs, kept } = service(
    async (run) => {
      if (run === 2) await held.promise
      return new Response(`run ${run}`)
    },
    { ttl: '1ms', staleWhileRevalidate: '1h' },
  )
  await get()
  await kept()
  await new Promise((resolve) => setTimeout(resolve, 20))

  const one = get()
  await expect.poll(runs).toBe(2)
  const stale = await get()

  expect(await stale.text()).toBe('run 1')
  expect(stale.headers.get('cache-status')).toMatch(/hit; ttl=-\d+/)
  held.resolve()
  expect(await (await one).text()).toBe('run 2')
  await expect.poll(async () => (await get()).text()).not.toBe('run 1')
})

describe('is kept or not according to its headers:', () => {
  const notKept: [string, Answering][] = [
    ['no-store', text({ 'cache-control': 'max-age=60, No-Store' })],
    ['private', text({ 'cache-control': 'private="x-user", s-maxage=60' })],
    ['no-cache', text({ 'cache-control': 'no-cache' })],
    ['s-maxage=0', text({ 'cache-control': 's-maxage=0, max-age=60' })],
    ['max-age that is no number', text({ 'cache-control': 'max-age=soon' })],
    ['Set-Cookie', text({ 'set-cookie': 'session=1' })],
    ['Vary: *', text({ vary: '*' })],
    ['Vary: Cookie', text({ vary: 'Accept-Encoding, Cookie' })],
    ['302', text({}, 302)],
    ['400', text({}, 400)],
    ['500', text({}, 500)],
    ['events', text({ 'content-type': 'text/event-stream' })],
  ]
  test.each(notKept)('not: %s', async (_, answer) => {
    const { get, runs } = service(answer, { vary: ['accept-encoding'] })

    expect(await bodies(3, get)).toEqual(['run 1', 'run 2', 'run 3'])
    expect(runs()).toBe(3)
  })

  const shared: [string, Answering][] = [
    ['nothing said', text()],
    ['public', text({ 'cache-control': 'public, max-age="60"' })],
    ['s-maxage over max-age', text({ 'cache-control': 'max-age=0, s-maxage=60' })],
    ['Vary on a configured header', text({ vary: 'accept-ENCODING' })],
    ['404', text({}, 404)],
  ]
  test.each(shared)('kept: %s', async (_, answer) => {
    const { get } = service(answer, { vary: ['accept-encoding'] })

    expect(await bodies(3, get)).toEqual(['run 1', 'run 1', 'run 1'])
  })

  test('for as long: s-maxage and stale-while-revalidate override the options', async () => {
    const { get, kept } = service(text({ 'cache-control': 's-maxage=100, stale-while-revalidate=50' }), {
      key: () => 'k',
      ttl: '1s',
    })
    await get()

    const found = await kept('k')
    expect(found.freshUntilMs - found.createdAtMs).toBe(100_000)
    expect(found.staleUntilMs - found.freshUntilMs).toBe(50_000)
  })

  test('never stale with must-revalidate', async () => {
    const { get, kept } = service(text({ 'cache-control': 'max-age=100, must-revalidate' }), {
      key: () => 'k',
      staleWhileRevalidate: '1h',
    })
    await get()

    const found = await kept('k')
    expect(found.staleUntilMs).toBe(found.freshUntilMs)
  })
})

test('requests that wait for a response that must not be shared are answered by the handler, and later ones without waiting', async () => {
  const { get, runs } = service(async (run) => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    return new Response(`run ${run}`, { headers: { 'cache-control': 'private' } })
  })

  const all = await Promise.all(Array.from({ length: 5 }, () => get()))

  expect(new Set(await Promise.all(all.map((response) => response.text()))).size).toBe(5)
  expect((await get()).headers.get('cache-status')).toBe('perilune; fwd=bypass')
  expect(runs()).toBe(6)
})

test('a response that one process must not share is not given to waiting requests in another process', async () => {
  for (const [headers, status] of [
    [{ 'cache-control': 'private' }, 200],
    [{}, 503],
  ] as const) {
    const held = new Deferred<void>()
    const { get, another, runs } = service(async (run) => {
      if (run === 1) await held.promise
      return new Response(`run ${run}`, { headers, status })
    })

    const first = get()
    await expect.poll(runs).toBe(1)
    const second = another()()
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(runs()).toBe(1)
    held.resolve()

    expect([await (await first).text(), await (await second).text()]).toEqual(['run 1', 'run 2'])
  }
})

test('a response that becomes private replaces the kept one', async () => {
  const { get, kept } = service(
    (run) => new Response(`run ${run}`, { headers: run === 1 ? {} : { 'cache-control': 'private' } }),
    { ttl: '1ms', staleWhileRevalidate: '1h' },
  )
  await get()
  await kept()
  await new Promise((resolve) => setTimeout(resolve, 20))

  expect(await (await get()).text()).toBe('run 2')
  await expect.poll(async () => (await get()).headers.get('cache-status')).toBe('perilune; fwd=bypass')
})

test('requests with Authorization or Range bypass the cache, unless configured otherwise', async () => {
  const { get } = service(text())
  await get()
  const authorized = { authorization: 'Bearer ada' }
  expect(await bodies(2, () => get(authorized))).toEqual(['run 2', 'run 3'])
  expect(await bodies(1, () => get({ range: 'bytes=0-1' }))).toEqual(['run 4'])

  const allowed = service(text(), { withAuthorization: true, vary: ['authorization'] })
  expect(await bodies(2, () => allowed.get(authorized))).toEqual(['run 1', 'run 1'])
  expect(await bodies(1, () => allowed.get({ authorization: 'Bearer ben' }))).toEqual(['run 2'])
})

test.each(['if-match', 'if-unmodified-since'])(
  'a request with %s goes to the handler, and does not delay others',
  async (name) => {
    const { get } = service((run, request) =>
      request.headers.has(name) ? new Response(null, { status: 412 }) : new Response(`run ${run}`),
    )
    const refused = await get({ [name]: '"old"' })

    expect([refused.status, refused.headers.get('cache-status')]).toEqual([412, 'perilune; fwd=bypass'])
    expect(await bodies(2, () => get())).toEqual(['run 2', 'run 2'])
  },
)

test('cookies are never kept, even when a response is kept without them', async () => {
  const { get } = service(text({ 'set-cookie': 'session=1' }), {
    stripCookies: true,
    keepHeaders: ['Set-Cookie', 'X-Trace'],
  })

  expect((await get()).headers.get('set-cookie')).toBe('session=1')
  const again = await get()
  expect([await again.text(), again.headers.get('set-cookie')]).toEqual(['run 1', null])
})

test('other methods bypass the cache, and HEAD is answered with the response kept for GET', async () => {
  const { get, runs, kept } = service(text({ 'content-type': 'text/x' }))
  expect((await get({}, '/a?b=1', 'HEAD')).headers.get('cache-status')).toBe('perilune; fwd=bypass')
  await get()
  await kept()
  const head = await get({}, '/a?b=1', 'HEAD')
  expect([await head.text(), head.headers.get('content-length'), head.headers.get('content-type')]).toEqual([
    '',
    '5',
    'text/x',
  ])
  const post = await get({}, '/a?b=1', 'POST')
  expect([await post.text(), post.headers.get('cache-status')]).toEqual(['run 3', null])
  expect(runs()).toBe(3)
})

test('a client that has the response gets 304, and the handler always makes the whole one', async () => {
  const conditions: (string | null)[] = []
  const { get } = service((_run, request) => {
    conditions.push(request.headers.get('if-none-match'))
    return new Response('body', { headers: { etag: 'W/"1"', 'content-type': 'text/x' } })
  })

  expect((await get({ 'if-none-match': '"0", "1"' })).status).toBe(200)
  const known = await get({ 'if-none-match': '"0", "1"' })
  const unknown = await get({ 'if-none-match': '"2"' })

  expect([known.status, await known.text(), known.headers.get('etag')]).toEqual([304, '', 'W/"1"'])
  expect(known.headers.get('content-type')).toBe(null)
  expect([unknown.status, await unknown.text()]).toEqual([200, 'body'])
  expect(conditions).toEqual([null])
})

test('a response that is too large is delivered whole and not kept', async () => {
  const { get } = service((run) => new Response(`${run}`.repeat(1000)), { maxBytes: 999 })
  expect(await bodies(2, get)).toEqual(['1'.repeat(1000), '2'.repeat(1000)])
})

test('responses end with their tags and keys, and a response made before is not kept after', async () => {
  const held = new Deferred<void>()
  const { get, cache, runs } = service(
    async (run) => {
      if (run === 3) await held.promise
      return new Response(`run ${run}`)
    },
    { key: () => 'product:1', tags: () => ['shop'] },
  )
  await get()
  await cache.invalidate({ tag: 'shop' })
  expect(await bodies(2, get)).toEqual(['run 2', 'run 2'])

  await cache.invalidate('product:1')
  const late = get()
  await expect.poll(runs).toBe(3)
  await cache.invalidate('product:1')
  held.resolve()
  expect(await (await late).text()).toBe('run 3')
  expect(await bodies(2, get)).toEqual(['run 4', 'run 4'])
})

test('a handler that throws fails its own request only', async () => {
  const { get } = service(async (run) => {
    await new Promise((resolve) => setTimeout(resolve, 30))
    if (run === 1) throw new Error('broken')
    return new Response(`run ${run}`)
  })

  const both = await Promise.allSettled([get(), get()])

  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
})

test('while Redis is away the handler answers', async () => {
  let runs = 0
  const cache = unreachable().cache<KeptResponse>('c', { storeWithin: '100ms' })
  const handle = withResponseCache(cache, {}, () => new Response(`run ${(runs += 1)}`))
  const ask = () => handle(new Request('http://shop.example/'))

  expect(await bodies(2, ask)).toEqual(['run 1', 'run 2'])
  const head = await handle(new Request('http://shop.example/', { method: 'HEAD' }))
  expect(head.status).toBe(200)
})

test('invalid options are rejected when the middleware is created', () => {
  const cache = unreachable().cache<KeptResponse>('c')
  const wrong = [{ ttl: '26d' }, { staleWhileRevalidate: 'soon' }, { maxBytes: 0 }, { ttl: 1 }]
  for (const options of wrong) {
    expect(() => withResponseCache(cache, options as never, () => new Response())).toThrow(
      Object.keys(options)[0] ?? '',
    )
  }
})

test('a missing key is an error, and nothing is shared; so are missing tags', async () => {
  for (const options of [
    { key: () => undefined as never },
    { key: () => '' },
    { tags: () => undefined as never },
  ]) {
    const { get, runs } = service(text(), options)
    await expect(get()).rejects.toThrow('must return a')
    expect(runs()).toBe(0)
  }
})

test('a response that was already old is fresh only for the rest of its time', async () => {
  const { get, kept } = service(text({ 'cache-control': 'max-age=3600', age: '3599' }))
  await get()
  const { madeAtMs } = (await kept()).value
  // The process reads its clock in whole milliseconds, the server in microseconds.
  expect(Date.now() + 1 - madeAtMs).toBeGreaterThanOrEqual(3_599_000)

  // One second of its hour is left.
  await expect.poll(async () => (await get()).headers.get('cache-status')).toMatch(/fwd=miss/)
})

test('Expires is sent with a kept response', async () => {
  const expires = new Date(Date.now() + 3_600_000).toUTCString()
  const { get } = service(text({ expires }))
  await get()

  const again = await get()

  expect([again.headers.get('cache-status'), again.headers.get('expires')]).toEqual([
    expect.stringMatching(/^perilune; hit; ttl=3[56]\d\d$/),
    expires,
  ])
})
