// The same behaviour through each framework, asked over HTTP as a client does.

import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { Once, Perilune } from 'perilune'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import type { StoredResponse } from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { codeOf, seen, setup } from './fixture.ts'

/** Starts a service of one route: `POST /orders` answers what `X-Do` asks for. */
type Start = (stores: Stores) => Promise<string>

interface Stores {
  once: Once<StoredResponse>
  limiter: ReturnType<Perilune['rateLimit']>
  options: { required?: boolean; maxBytes?: number }
  /** Called by each run of the handler. */
  ran(): void
}

const BYTES = 5000
const chunks = (): string[] => ['x'.repeat(BYTES / 2), 'x'.repeat(BYTES / 2)]

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  use(...handlers: unknown[]): void
  post(path: string, ...handlers: unknown[]): void
}
type ExpressHandler = (
  request: forExpress.ExpressRequest & { body: unknown },
  response: {
    status(status: number): { location(url: string): { json(value: unknown): void } }
  } & NodeJS.WritableStream,
) => void
const express: (() => ExpressApp) & { json(): unknown } = createRequire(import.meta.url)('express')

async function startExpress({ once, limiter, options, ran }: Stores): Promise<string> {
  const app = express()
  const handler: ExpressHandler = (request, response) => {
    ran()
    const wish = request.headers['x-do']
    if (wish === 'throw') throw new Error('broken')
    if (wish === 'stream') Readable.from(chunks()).pipe(response)
    else response.status(201).location('/orders/1').json({ got: request.body })
  }
  app.use(forExpress.rateLimit(limiter, { subject: (request) => request.ip ?? '' }), express.json())
  app.post('/orders', forExpress.idempotency(once, options), handler)
  app.use(
    (
      _error: unknown,
      _request: unknown,
      response: { status(status: number): { end(): void } },
      _next: unknown,
    ) => {
      response.status(500).end()
    },
  )
  const server = createServer(app).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function startFastify({ once, limiter, options, ran }: Stores): Promise<string> {
  const app = fastify()
  app.addHook('onRequest', forFastify.rateLimit(limiter, { subject: (request) => request.ip }).onRequest)
  app.post('/orders', { ...forFastify.idempotency(once, options) }, (request, reply) => {
    ran()
    const wish = request.headers['x-do']
    if (wish === 'throw') throw new Error('broken')
    if (wish === 'stream') return reply.send(Readable.from(chunks()))
    return reply.code(201).header('location', '/orders/1').send({ got: request.body })
  })
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

async function startHono({ once, limiter, options, ran }: Stores): Promise<string> {
  const app = new Hono()
  app.use(forHono.rateLimit(limiter, { subject: () => 'everybody' }))
  app.use('/orders', forHono.idempotency(once, options))
  app.onError((_error, context) => context.text('', 500))
  app.post('/orders', async (context) => {
    ran()
    const wish = context.req.header('x-do')
    if (wish === 'throw') throw new Error('broken')
    if (wish === 'stream')
      return context.body(
        Readable.toWeb(Readable.from(chunks().map((chunk) => Buffer.from(chunk)))) as ReadableStream,
      )
    return context.json({ got: await context.req.json() }, 201, { location: '/orders/1' })
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Service {
  post(key: string | null, more?: { body?: string; wish?: string }): Promise<Response>
  runs(): number
}

async function setupService(start: Start, options: Stores['options'] = {}, limit = 100): Promise<Service> {
  const { redis, once } = setup()
  const limiter = redis.rateLimit(once.name, { limit, window: '1h' })
  let runs = 0
  const url = await start({ once, limiter, options, ran: () => void (runs += 1) })
  return {
    runs: () => runs,
    post: (key, { body = '{"item":1}', wish = '' } = {}) => {
      const headers = { 'content-type': 'application/json', 'x-do': wish }
      return fetch(`${url}/orders`, {
        method: 'POST',
        body,
        headers: key === null ? headers : { ...headers, 'idempotency-key': key },
      })
    },
  }
}

const frameworks: [string, Start][] = [
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
]

describe.each(frameworks)('%s', (_, start) => {
  test('runs a repeated request once, and replays status, headers and body', async () => {
    const { post, runs } = await setupService(start)

    const first = await post('k')
    const again = await post('"k"')

    expect(await seen(first)).toEqual({ status: 201, body: '{"got":{"item":1}}', replayed: null })
    expect(again.headers.get('location')).toBe('/orders/1')
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'))
    expect(await seen(again)).toEqual({ status: 201, body: '{"got":{"item":1}}', replayed: 'true' })
    expect(runs()).toBe(1)
  })

  test('rejects another body under the same key', async () => {
    const { post, runs } = await setupService(start)
    await post('k')

    const other = await post('k', { body: '{"item":2}' })

    expect(other.status).toBe(422)
    expect(other.headers.get('content-type')).toContain('application/problem+json')
    expect(await codeOf(other)).toBe('conflict')
    expect(runs()).toBe(1)
  })

  test('passes or rejects requests without a key', async () => {
    const free = await setupService(start)
    expect((await free.post(null)).status).toBe(201)
    const strict = await setupService(start, { required: true })
    expect(await codeOf(await strict.post(null))).toBe('idempotency-key-missing')
    expect(await codeOf(await strict.post('a b'))).toBe('idempotency-key-malformed')
  })

  test('frees the key of a handler that threw', async () => {
    const { post, runs } = await setupService(start)

    expect((await post('k', { wish: 'throw' })).status).toBe(500)

    expect((await post('k')).status).toBe(201)
    expect(runs()).toBe(2)
  })

  test('keeps a streamed response up to its size, and reports when it did not', async () => {
    const small = await setupService(start)
    await (await small.post('k', { wish: 'stream' })).text()
    expect(await seen(await small.post('k'))).toEqual({
      status: 200,
      body: 'x'.repeat(BYTES),
      replayed: 'true',
    })

    const large = await setupService(start, { maxBytes: BYTES - 1 })
    expect(await (await large.post('k', { wish: 'stream' })).text()).toBe('x'.repeat(BYTES))
    expect(await codeOf(await large.post('k'))).toBe('response-not-kept')
    expect(large.runs()).toBe(1)
  })

  test('answers 429 when the limit is reached, and reports the state of the limit before', async () => {
    const { post, runs } = await setupService(start, {}, 2)

    const first = await post(null)
    await post(null)
    const third = await post(null)

    expect(first.headers.get('ratelimit')).toContain('r=1')
    expect(first.headers.get('ratelimit-policy')).toContain('q=2')
    expect(third.status).toBe(429)
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await codeOf(third)).toBe('rate-limited')
    expect(runs()).toBe(2)
  })
})
