import { randomUUID } from 'node:crypto'
import { AmbiguousError } from 'perilune'
import { withRateLimit } from 'perilune/middleware'
import { expect, test } from 'vitest'
import { codeOf, setup, unreachable } from './fixture.ts'

const subject = (request: Request): string => new URL(request.url).pathname.slice(1)
const hello = () => new Response('hello')
const from = (who: string): Request => new Request(`http://localhost/${who}`)

test('a request passes with the state of its limit in headers, until the limit is reached', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { limit: 2, window: '1h' })
  const handle = withRateLimit(limiter, { subject }, hello)

  const first = await handle(from('ada'))
  await handle(from('ada'))
  const third = await handle(from('ada'))

  expect(await first.text()).toBe('hello')
  expect(first.headers.get('ratelimit')).toContain('r=1')
  expect(third.status).toBe(429)
  expect(third.headers.get('content-type')).toBe('application/problem+json')
  expect(third.headers.get('ratelimit')).toContain('r=0')
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await third.json()).toMatchObject({
    type: 'urn:perilune:problem:rate-limited',
    title: 'Rate limited',
    code: 'rate-limited',
    deniedBy: 'default',
    retryAfterMs: expect.any(Number),
  })
  expect((await handle(from('bob'))).status).toBe(200)
})

test('a subject of any length is limited by itself', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { limit: 1, window: '1h' })
  const handle = withRateLimit(limiter, { subject: ({ headers }) => headers.get('x-token') ?? '' }, hello)
  const bearing = (token: string): Request =>
    new Request('http://localhost/', { headers: { 'x-token': token } })
  const long = 'x'.repeat(2000)

  expect((await handle(bearing(`${long}a`))).status).toBe(200)
  expect((await handle(bearing(`${long}a`))).status).toBe(429)
  expect((await handle(bearing(`${long}b`))).status).toBe(200)
  await expect(handle(new Request('http://localhost/'))).rejects.toThrow('subject')
})

test('a request may cost more than one unit', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { limit: 10, window: '1h' })
  const handle = withRateLimit(limiter, { subject, cost: () => 6 }, hello)

  expect((await handle(from('ada'))).status).toBe(200)
  expect((await handle(from('ada'))).status).toBe(429)
})

test('further arguments reach the handler, and headers of a redirect can be added to', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { limit: 10, window: '1h' })
  const redirect = (_request: Request, to: string): Response =>
    Response.redirect(`http://localhost/${to}`, 303)
  const handle = withRateLimit(limiter, { subject }, redirect)

  const response = await handle(from('ada'), 'there')

  expect(response.headers.get('location')).toBe('http://localhost/there')
  expect(response.headers.get('ratelimit')).not.toBeNull()
})

test('a place of a concurrency limit is held until the response has been read', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1m' })
  const handle = withRateLimit(limiter, { subject }, hello)

  const first = await handle(from('ada'))
  expect((await handle(from('ada'))).status).toBe(429)
  await first.text()

  await expect.poll(async () => (await limiter.inspect('ada')).held).toHaveLength(0)
  expect((await handle(from('ada'))).status).toBe(200)
})

test('a place comes back when the reader stops, when there is no body, and when the handler throws', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1m' })
  const answers: (() => Response | Promise<Response>)[] = [
    () => new Response(new ReadableStream({ pull: (to) => to.enqueue(Buffer.from('x')) })),
    () => new Response(null, { status: 204 }),
    () => Promise.reject(new Error('broken')),
    () => new Response(new ReadableStream({ pull: () => Promise.reject(new Error('cut')) })),
  ]
  for (const answer of answers) {
    await withRateLimit(
      limiter,
      { subject },
      answer,
    )(from('ada')).then(
      (response) => (response.status === 204 ? null : response.body?.cancel().catch(() => undefined)),
      () => undefined,
    )
    await expect.poll(async () => (await limiter.inspect('ada')).held).toHaveLength(0)
  }
})

test('a place whose response ends in an outage is given back when the outage is over', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1h' })
  let failures = 2
  const cut = Object.assign(Object.create(limiter) as typeof limiter, {
    take: limiter.take.bind(limiter),
    release: async (who: string, token: number): Promise<void> => {
      failures -= 1
      if (failures >= 0) throw new AmbiguousError('rate-limit/release')
      return limiter.release(who, token)
    },
  })

  await (await withRateLimit(cut, { subject }, hello)(from('ada'))).text()

  await expect.poll(async () => (await limiter.inspect('ada')).held, { timeout: 10_000 }).toHaveLength(0)
})

test('an outage is 503 when the limiter fails closed, never 429', async () => {
  const limiter = unreachable().rateLimit('x', { limit: 1, window: '1h', onOutage: 'fail-closed' })

  const response = await withRateLimit(limiter, { subject }, hello)(from('ada'))

  expect(response.status).toBe(503)
  expect(await codeOf(response)).toBe('unavailable')
})

test('an outage passes requests when the limiter fails open, and throws when so configured', async () => {
  const open = unreachable().rateLimit('x', { limit: 1, window: '1h', onOutage: 'fail-open' })
  const strict = unreachable().rateLimit('x', { limit: 1, window: '1h' })

  const response = await withRateLimit(open, { subject }, hello)(from('ada'))

  expect(await response.text()).toBe('hello')
  expect(response.headers.get('ratelimit')).toBeNull()
  await expect(withRateLimit(strict, { subject }, hello)(from('ada'))).rejects.toThrow('no server answered')
})

test('HEAD gives its place back at once: its response has no reader', async () => {
  const limiter = setup().redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1m' })
  const handle = withRateLimit(limiter, { subject }, hello)

  await handle(new Request('http://localhost/ada', { method: 'HEAD' }))

  await expect.poll(async () => (await limiter.inspect('ada')).held).toHaveLength(0)
})
