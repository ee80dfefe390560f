// The response cache through each framework, asked over HTTP as a client does.

import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import fastify from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import { etag } from 'hono/etag'
import type { Cache } from 'perilune'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import type { KeptResponse } from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'

/** Starts a service of one route: `GET /products` answers what `X-Do` asks for. */
type Start = (given: Given) => Promise<string>

interface Given {
  cache: Cache<KeptResponse>
  options: { ttl?: '1ms'; staleWhileRevalidate?: '1h'; maxBytes?: number }
  /** Called by each run of the handler, with the condition that it sees; says how often it ran. */
  ran(condition: unknown): Promise<number>
}

const BYTES = 5000
/** A stream that continues until its client leaves. */
async function* endless(): AsyncGenerator<Buffer> {
  for (;;) {
    yield Buffer.alloc(200_000, 'x')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
const endlessly = (): Readable => Readable.from(endless())
const chunks = (): Buffer[] => [Buffer.alloc(BYTES / 2, 'x'), Buffer.alloc(BYTES / 2, 'x')]

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  use(...handlers: unknown[]): void
  get(path: string, ...handlers: unknown[]): void
}
interface ExpressResponse extends NodeJS.WritableStream {
  readonly headersSent: boolean
  set(name: string, value: string): ExpressResponse
  json(value: unknown): void
  status(status: number): ExpressResponse
  writeHead(status: number, headers: unknown): ExpressResponse
}
const express: () => ExpressApp = createRequire(import.meta.url)('express')

async function startExpress({ cache, options, ran }: Given, app = express()): Promise<string> {
  app.get(
    '/products',
    forExpress.responseCache(cache, options),
    async (request: forExpress.ExpressRequest, response: ExpressResponse) => {
      const run = await ran(request.headers['if-none-match'])
      const wish = request.headers['x-do']
      if (wish === 'throw') throw new Error('broken')
      if (wish === 'events') response.set('content-type', 'text/event-stream')
      if (wish === 'stream') Readable.from(chunks()).pipe(response)
      else if (wish === 'events' || wish === 'endless') endlessly().pipe(response)
      else if (wish === 'private')
        response.writeHead(200, { 'Cache-Control': 'private' }).end(`{"run":${run}}`)
      else response.set('link', '</b>').json({ run })
    },
  )
  app.use((_error: unknown, _request: unknown, response: ExpressResponse, _next: unknown) => {
    response.status(500).end()
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function startFastify({ cache, options, ran }: Given): Promise<string> {
  const app = fastify()
  app.get('/products', { ...forFastify.responseCache(cache, options) }, async (request, reply) => {
    const run = await ran(request.headers['if-none-match'])
    const wish = request.headers['x-do']
    if (wish === 'throw') throw new Error('broken')
    if (wish === 'events') reply.type('text/event-stream')
    if (wish === 'stream') return reply.send(Readable.from(chunks()))
    if (wish === 'events' || wish === 'endless') return reply.send(endlessly())
    if (wish === 'private') reply.header('cache-control', 'private')
    return reply.header('link', '</b>').header('etag', '"own"').send({ run })
  })
  onTestFinished(() => app.close())
  return app.listen({ port: 0, host: '127.0.0.1' })
}

async function startHono({ cache, options, ran }: Given): Promise<string> {
  const app = new Hono()
  const tags = etag()
  // It reads a body to its end.
  const unlessEndless: MiddlewareHandler = (context, next) =>
    ['events', 'endless'].includes(context.req.header('x-do') ?? '') ? next() : tags(context, next)
  app.use(forHono.responseCache(cache, options), unlessEndless)
  app.onError((_error, context) => context.text('', 500))
  app.get('/products', async (context) => {
    const run = await ran(context.req.header('if-none-match'))
    const wish = context.req.header('x-do')
    if (wish === 'throw') throw new Error('broken')
    if (wish === 'events') context.header('content-type', 'text/event-stream')
    if (wish === 'stream') return context.body(Readable.toWeb(Readable.from(chunks())) as ReadableStream)
    if (wish === 'events' || wish === 'endless')
      return context.body(Readable.toWeb(endlessly()) as ReadableStream)
    if (wish === 'private') context.header('cache-control', 'private')
    return context.json({ run }, 200, { link: '</b>' })
  })
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Service {
  get(headers?: Record<string, string>, path?: string): Promise<Response>
  runs(): number
  /** The kept response, once there is one. */
  kept(): Promise<KeptResponse>
  conditions(): unknown[]
  /** The handler waits for this before it answers. */
  hold(until: Promise<void>): void
}

async function service(start: Start, options: Given['options'] = {}): Promise<Service> {
  const cache = instance().redis.cache<KeptResponse>(randomUUID())
  const conditions: unknown[] = []
  let held: Promise<void> = Promise.resolve()
  const ran = async (condition: unknown): Promise<number> => {
    const run = conditions.push(condition)
    await held
    return run
  }
  const url = await start({ cache, options, ran })
  return {
    get: (headers = {}, path = '/products') => fetch(`${url}${path}`, { headers }),
    runs: () => conditions.length,
    kept: async () => {
      const find = () => cache.getEntry(`${new URL(url).origin}/products`)
      await expect.poll(find).not.toBe(null)
      return (await find())?.value as KeptResponse
    },
    conditions: () => conditions,
    hold: (until) => void (held = until),
  }
}

const frameworks: [string, Start][] = [
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
]

test('in Express the response is kept as the handler made it, whatever changes it while it is sent', async () => {
  const { get, kept } = await service(async (given) => {
    const app = express()
    app.use((_request: unknown, response: ExpressResponse, next: () => void) => {
      // As a compression does.
      const [write, end] = [response.write.bind(response), response.end.bind(response)]
      const encode = (): unknown => response.headersSent || response.set('content-encoding', 'x-sent')
      const written = (...args: unknown[]): boolean => {
        encode()
        return write(...(args as [string]))
      }
      Object.assign(response, {
        write: written,
        end: (...args: unknown[]) => (encode(), end(...(args as []))),
      })
      next()
    })
    return startExpress(given, app)
  })

  await (await get({ 'x-do': 'stream' })).text()

  expect(await (await get()).text()).toBe('x'.repeat(BYTES))
  expect((await kept()).headers.map(([name]) => name)).not.toContain('content-encoding')
})

describe.each(frameworks)('%s', (_, start) => {
  test('serves a kept response, even to all concurrent requests', async () => {
    const { get, runs } = await service(start)

    const all = await Promise.all(Array.from({ length: 20 }, () => get()))
    const later = await get()

    expect(await Promise.all(all.map((response) => response.text()))).toEqual(all.map(() => '{"run":1}'))
    const statuses = all.map(({ headers }) => headers.get('cache-status')?.split(';')[1])
    expect(statuses.filter((status) => status === ' fwd=miss')).toHaveLength(1)
    expect(statuses.filter((status) => status === ' hit')).toHaveLength(19)
    expect(later.headers.get('link')).toBe('</b>')
    expect(later.headers.get('content-type')).toContain('application/json')
    expect(later.headers.get('content-length')).toBe('9')
    expect(runs()).toBe(1)
  })

  test('does not keep private responses or failures', async () => {
    for (const wish of ['private', 'throw']) {
      const { get, runs } = await service(start)
      const [first] = await Promise.all([get({ 'x-do': wish }), get({ 'x-do': wish })])
      expect(first?.status).toBe(wish === 'throw' ? 500 : 200)
      await get()
      expect(runs()).toBe(3)
    }
  })

  test('keeps a streamed response up to its size', async () => {
    const small = await service(start)
    await (await small.get({ 'x-do': 'stream' })).text()
    expect((await (await small.get()).text()).length).toBe(BYTES)

    const large = await service(start, { maxBytes: BYTES - 1 })
    expect((await (await large.get({ 'x-do': 'stream' })).text()).length).toBe(BYTES)
    expect(await (await large.get()).text()).toBe('{"run":2}')
  })

  test.each(['events', 'endless'])('no request waits for a stream that is not kept (%s)', async (wish) => {
    const { get } = await service(start)
    const first = await get({ 'x-do': wish })

    const second = await get({ 'x-do': wish })

    expect(second.headers.get('cache-status')).toBe('perilune; fwd=bypass')
    await Promise.all([first.body?.cancel(), second.body?.cancel()])
  })

  test('serves the stale response while one request renews it', async () => {
    const { get, runs, hold, kept } = await service(start, { ttl: '1ms', staleWhileRevalidate: '1h' })
    await (await get()).text()
    await kept()
    await new Promise((resolve) => setTimeout(resolve, 20))
    let release = (): void => undefined
    hold(new Promise((resolve) => (release = resolve)))

    const one = get()
    await expect.poll(runs).toBe(2)
    expect(await (await get()).text()).toBe('{"run":1}')
    release()
    expect(await (await one).text()).toBe('{"run":2}')
  })

  test('answers 304 to a client that has the response, and hides the condition from the handler', async () => {
    const { get, conditions } = await service(start)
    const tag = (await get({ 'if-none-match': '"other"' })).headers.get('etag') ?? ''

    const known = await get({ 'if-none-match': tag })

    expect([known.status, await known.text()]).toEqual([304, ''])
    expect(conditions()).toEqual([undefined])
  })

  test('answers HEAD with the response kept for GET', async () => {
    const { get, runs, kept } = await service(start)
    const { url } = await get()
    await kept()
    const head = await fetch(url, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length'), runs()]).toEqual([200, '9', 1])
  })
})
