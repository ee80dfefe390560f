// The same store twice on a route: for all routes, and with other options on one of them.

import { randomUUID } from 'node:crypto'
import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { Cache, Once } from 'perilune'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import {
  type KeptResponse,
  type StoredResponse,
  withIdempotency,
  withResponseCache,
} from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from './fixture.ts'

interface Stores {
  once: Once<StoredResponse>
  cache: Cache<KeptResponse>
  /** Called by each run of the handler; says how often it ran. */
  ran(): number
}

type Ask = (method: string, headers: Record<string, string>) => Promise<{ status: number; body: string }>
type Start = (stores: Stores) => Promise<Ask>

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  use(...handlers: unknown[]): void
  all(path: string, ...handlers: unknown[]): void
}
const express: (() => ExpressApp) & { json(): unknown } = createRequire(import.meta.url)('express')

async function startExpress({ once, cache, ran }: Stores): Promise<Ask> {
  const app = express()
  app.use(express.json(), forExpress.idempotency(once), forExpress.responseCache(cache))
  const own = [
    forExpress.idempotency(once, { required: true }),
    forExpress.responseCache(cache, { tags: () => ['own'] }),
  ]
  app.all('/', ...own, (_request: unknown, response: { json(value: unknown): void }) => response.json(ran()))
  const server = createServer(app).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return async (method, headers) => {
    const response = await fetch(url, { method, headers })
    return { status: response.status, body: await response.text() }
  }
}

async function startFastify({ once, cache, ran }: Stores): Promise<Ask> {
  const app = fastify()
  const layers = [
    forFastify.idempotency(once),
    forFastify.responseCache(cache),
    forFastify.idempotency(once, { required: true }),
    forFastify.responseCache(cache, { tags: () => ['own'] }),
  ]
  for (const { preHandler, onSend } of layers) {
    app.addHook('preHandler', preHandler)
    app.addHook('onSend', onSend)
  }
  app.route({ method: ['GET', 'POST'], url: '/', handler: async () => ran() })
  onTestFinished(() => app.close())
  return async (method, headers) => {
    const { statusCode, body } = await app.inject({ method: method as 'GET', url: '/', headers })
    return { status: statusCode, body }
  }
}

async function startHono({ once, cache, ran }: Stores): Promise<Ask> {
  const app = new Hono()
  app.use(forHono.idempotency(once), forHono.responseCache(cache))
  const own = [
    forHono.idempotency(once, { required: true }),
    forHono.responseCache(cache, { tags: () => ['own'] }),
  ]
  app.use(...own)
  app.all('/', (context) => context.json(ran()))
  return async (method, headers) => {
    const response = await app.request('/', { method, headers })
    return { status: response.status, body: await response.text() }
  }
}

async function startFetch({ once, cache, ran }: Stores): Promise<Ask> {
  const own = withIdempotency(
    once,
    { required: true },
    withResponseCache(cache, { tags: () => ['own'] }, async () => Response.json(ran())),
  )
  const handle = withIdempotency(once, {}, withResponseCache(cache, {}, own))
  return async (method, headers) => {
    const response = await handle(new Request('http://localhost/', { method, headers }))
    return { status: response.status, body: await response.text() }
  }
}

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
  ['fetch', startFetch],
] satisfies [string, Start][])('%s: a store that is used twice on a route', (_name, start) => {
  async function started(): Promise<Ask> {
    const { redis, once } = setup()
    let runs = 0
    return start({ once, cache: redis.cache<KeptResponse>(randomUUID()), ran: () => (runs += 1) })
  }

  test('keeps a response once, and a request does not wait for itself', async () => {
    const ask = await started()

    expect(await ask('GET', {})).toEqual({ status: 200, body: '1' })
    expect(await ask('GET', { 'if-none-match': '"other"' })).toEqual({ status: 200, body: '1' })
  })

  test('does not wait for itself when the request has conditions', async () => {
    const ask = await started()

    expect(await ask('GET', { 'if-none-match': '"other"' })).toEqual({ status: 200, body: '1' })
    expect(await ask('GET', {})).toEqual({ status: 200, body: '1' })
  })

  test('runs a request once', async () => {
    const ask = await started()

    expect(await ask('POST', { 'idempotency-key': 'k' })).toEqual({ status: 200, body: '1' })
    expect(await ask('POST', { 'idempotency-key': 'k' })).toEqual({ status: 200, body: '1' })
    expect((await ask('POST', {})).status).toBe(400)
  })
})
