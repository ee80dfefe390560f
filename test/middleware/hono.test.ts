// Cases of Hono: request bodies that were read before, responses without a reader, and responses that Hono does not
// send.

import { randomUUID } from 'node:crypto'
import { once as event } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type HttpBindings, serve } from '@hono/node-server'
import { type Context, Hono, type Next } from 'hono'
import { cors } from 'hono/cors'
import { timeout } from 'hono/timeout'
import { validator } from 'hono/validator'
import { idempotency, rateLimit, responseCache } from 'perilune/hono'
import type { KeptResponse } from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from './fixture.ts'

async function listening(app: Hono): Promise<string> {
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await event(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

type Reads = (context: Context, next: Next) => Promise<Response | undefined | void>

/** An app whose body is read before the middleware: `ask` sends a body with a key, over HTTP and without. */
function readingFirst(reads: Reads) {
  const app = new Hono()
  app.onError((error, context) => context.text(String(error), 500))
  let runs = 0
  app.post('/orders', reads as never, idempotency(setup().once), (context) =>
    context.text(`run ${(runs += 1)}`),
  )
  return app
}

function form(item: string): FormData {
  const fields = new FormData()
  fields.append('item', item)
  fields.append('picture', new File([item, 'bytes'], 'tea.png', { type: 'image/png' }))
  return fields
}

const JSON_TYPE = { 'content-type': 'application/json' }
const reading: [
  who: string,
  reads: Reads,
  body: (item: string) => FormData | string,
  headers: Record<string, string>,
][] = [
  [
    'a validator of JSON',
    validator('json', (value) => value) as Reads,
    (item) => `{"item":"${item}"}`,
    JSON_TYPE,
  ],
  ['a validator of forms', validator('form', (value) => value) as Reads, form, {}],
  ['a reader of the text', async (context, next) => (await context.req.text(), next()), (item) => item, {}],
  ['no handler that reads', (_context, next) => next(), form, {}],
  ['a reader of forms', async (context, next) => (await context.req.formData(), next()), form, {}],
  ['a parser', async (context, next) => (await context.req.parseBody(), next()), form, {}],
]

describe.each(reading)('behind %s', (_, reads, bodyOf, headers) => {
  test('a request runs once, and another one under its key is rejected', async () => {
    const url = await listening(readingFirst(reads))
    // A form is written with another boundary each time.
    const ask = async (item: string): Promise<[number, string | null]> => {
      const response = await fetch(`${url}/orders`, {
        method: 'POST',
        body: bodyOf(item),
        headers: { ...headers, 'idempotency-key': 'k' },
      })
      return [response.status, response.status === 200 ? await response.text() : null]
    }

    expect(await ask('tea')).toEqual([200, 'run 1'])
    expect(await ask('tea')).toEqual([200, 'run 1'])
    expect(await ask('cake')).toEqual([422, null])
  })
})

test('a body that was read and not left to others is an error that names the solution', async () => {
  const app = readingFirst(async (context, next) => (await context.req.raw.text(), next()))

  const response = await app.request('/orders', {
    method: 'POST',
    body: 'x',
    headers: { 'idempotency-key': 'k' },
  })

  expect([response.status, await response.text()]).toEqual([
    500,
    expect.stringContaining('the body of the request has been read already'),
  ])
})

describe('a place of a concurrency limit comes back', () => {
  function limited(...around: Reads[]) {
    const limiter = setup().redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1h' })
    const app = new Hono()
    app.use(...(around as [never]), rateLimit(limiter, { subject: () => 'ada' }))
    return { app, held: async () => (await limiter.inspect('ada')).held }
  }

  test('from HEAD, whose response has no reader', async () => {
    const { app, held } = limited()
    app.get('/', (context) => context.text('ok'))

    expect((await app.request('/', { method: 'HEAD' })).status).toBe(200)

    await expect.poll(held).toEqual([])
  })

  test('from a handler that another middleware does not wait for', async () => {
    const { app, held } = limited(timeout(20) as never)
    app.get('/', async (context) => {
      await new Promise((resolve) => setTimeout(resolve, 60))
      return context.text('late')
    })
    const url = await listening(app)

    expect((await fetch(url)).status).toBe(504)

    await expect.poll(held).toEqual([])
  })
})

/**
 * As RESPONSE_ALREADY_SENT of @hono/node-server in a program that imports it first: once a server runs, that is an
 * instance of its own class, which it then sends.
 */
async function alreadySent(): Promise<Response> {
  const { constructor } = await fetch('data:,')
  return new (constructor as typeof Response)(null, { headers: { 'x-hono-already-sent': 'true' } })
}

describe('a handler that answers with the response of Node', () => {
  const cases: [when: string, ms: number][] = [
    ['at once', 0],
    ['later', 30],
  ]

  test.each(cases)('%s, reaches its client, is not kept, and does not run again', async (_, ms) => {
    const { redis, once } = setup()
    let runs = 0
    const app = new Hono()
    const mark = await alreadySent()
    const answer = (context: Context): Response => {
      const { outgoing } = context.env as HttpBindings
      runs += 1
      const write = (): unknown => outgoing.writeHead(201, { 'x-own': '1' }).end(`run ${runs}`)
      if (ms === 0) write()
      else setTimeout(write, ms)
      return mark
    }
    const places = redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1h' })
    app.use('/limited', rateLimit(places, { subject: () => 'all' }))
    app.use('/pages', responseCache(redis.cache<KeptResponse>(randomUUID())))
    app.use('/orders', idempotency(once))
    app.all('*', answer)
    const url = await listening(app)
    const answerTo = async (path: string, init: RequestInit = {}): Promise<unknown[]> => {
      const response = await fetch(`${url}${path}`, init)
      return [response.status, response.headers.get('x-own'), await response.text()]
    }

    for (const path of ['/limited', '/limited', '/pages', '/pages']) {
      expect(await answerTo(path)).toEqual([201, '1', `run ${runs}`])
    }
    expect(runs).toBe(4)
    const keyed = { method: 'POST', headers: { 'idempotency-key': randomUUID() } }
    expect(await answerTo('/orders', keyed)).toEqual([201, '1', 'run 5'])
    await expect.poll(async () => (await answerTo('/orders', keyed))[2]).toContain('response-not-kept')
    expect(runs).toBe(5)
  })
})

test('a handler without an answer fails as it does without the middleware, each time', async () => {
  const { redis, once } = setup()
  const app = new Hono()
  const places = redis.rateLimit(randomUUID(), { algorithm: 'concurrency', limit: 1, lease: '1h' })
  app.use('/limited', rateLimit(places, { subject: () => 'all' }))
  app.use('/pages', responseCache(redis.cache<KeptResponse>(randomUUID())))
  app.use('/orders', idempotency(once))
  app.onError((_error, context) => context.text('failed', 500))
  app.all('*', () => undefined as never)
  const url = await listening(app)
  const keyed = { method: 'POST', headers: { 'idempotency-key': randomUUID() } }

  for (const path of ['/limited', '/limited', '/pages', '/pages', '/orders', '/orders']) {
    const response = await fetch(`${url}${path}`, path === '/orders' ? keyed : {})
    expect([path, response.status, await response.text()]).toEqual([path, 500, 'failed'])
  }
})

test.each(['idempotency', 'responseCache'])(
  'a body that fails adds none of its headers to the error response (%s)',
  async (which) => {
    const { redis, once } = setup()
    const app = new Hono()
    app.onError((_error, context) => context.text('failed', 500))
    app.use('*', async (context, next) => {
      context.header('x-request-id', 'r-17')
      await next()
    })
    app.use(
      '*',
      which === 'idempotency' ? idempotency(once) : responseCache(redis.cache<KeptResponse>(randomUUID())),
    )
    app.all('*', (context) => {
      const failing = new ReadableStream({ pull: (controller) => controller.error(new Error('upstream')) })
      return context.body(failing, 200, {
        'content-encoding': 'gzip',
        etag: '"1"',
        'cache-control': 'max-age=60',
      })
    })
    const url = await listening(app)
    const keyed = { method: 'POST', headers: { 'idempotency-key': randomUUID() } }

    const response = await fetch(url, which === 'idempotency' ? keyed : {})

    expect([response.status, await response.text()]).toEqual([500, 'failed'])
    expect(Object.fromEntries(response.headers)).toMatchObject({ 'x-request-id': 'r-17' })
    expect([...response.headers.keys()]).not.toEqual(expect.arrayContaining(['content-encoding']))
    expect(response.headers.get('etag') ?? response.headers.get('cache-control')).toBe(null)
  },
)

test('CORS headers set inside of a cache are kept for each origin, if the options name them', async () => {
  const { redis } = setup()
  const origins = ['https://shop.example', 'https://admin.example']
  const app = new Hono()
  const named = { vary: ['origin'], keepHeaders: ['access-control-allow-origin'] }
  app.use(responseCache(redis.cache<KeptResponse>(randomUUID(), { ttl: '1h' }), named))
  app.use(cors({ origin: origins }))
  let runs = 0
  app.get('/', (context) => context.text(`run ${(runs += 1)}`))

  const got: unknown[] = []
  for (const origin of [...origins, ...origins]) {
    const response = await app.request('/', { headers: { origin } })
    got.push([await response.text(), response.headers.get('access-control-allow-origin')])
  }

  const first = origins.map((origin, at) => [`run ${at + 1}`, origin])
  expect(got).toEqual([...first, ...first])
})
