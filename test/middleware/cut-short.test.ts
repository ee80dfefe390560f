// A response that ends before its declared length because its source failed: it is no answer to others, nor to a
// repetition.

import { once as event } from 'node:events'
import { createServer, type RequestListener, request as ask, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
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
import { instance } from '../instance.ts'

interface Stores {
  readonly once: ReturnType<typeof storesOf>['once']
  readonly cache: ReturnType<typeof storesOf>['cache']
  /** The next answer of the handler. */
  answer(): Given
}

/** A body, as a stream, under this Content-Length. */
interface Given {
  readonly length: number
  readonly body: string
}

interface Route {
  (path: string, ...handlers: unknown[]): void
}
const express: () => RequestListener & { get: Route; post: Route } = createRequire(import.meta.url)('express')

function storesOf() {
  const { redis } = instance()
  return {
    once: redis.once<StoredResponse>(randomUUID()),
    cache: redis.cache<KeptResponse>(randomUUID(), { ttl: '1h' }),
  }
}

const webStream = (body: string): ReadableStream<Uint8Array> =>
  Readable.toWeb(Readable.from([Buffer.from(body)])) as ReadableStream<Uint8Array>

function asResponse({ length, body }: Given): Response {
  return new Response(webStream(body), { headers: { 'Content-Length': String(length) } })
}

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  await event(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

function startExpress({ once, cache, answer }: Stores): Promise<number> {
  const app = express()
  const handler = (_request: unknown, response: ServerResponse): void => {
    const { length, body } = answer()
    response.setHeader('Content-Length', length)
    Readable.from([Buffer.from(body)]).pipe(response)
  }
  app.post('/', forExpress.idempotency(once, { fingerprint: () => 'same' }), handler)
  app.get('/', forExpress.responseCache(cache), handler)
  return portOf(createServer(app).listen(0, '127.0.0.1'))
}

const fastifySends = (form: (given: Given) => unknown) => async (stores: Stores) => {
  const app = fastify()
  const handler = (
    _request: unknown,
    reply: { header(name: string, value: number): unknown; send(payload: unknown): unknown },
  ) => {
    const given = stores.answer()
    reply.header('Content-Length', given.length)
    return reply.send(form(given))
  }
  app.post('/', { ...forFastify.idempotency(stores.once) }, handler)
  app.get('/', { ...forFastify.responseCache(stores.cache) }, handler)
  onTestFinished(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

function startHono({ once, cache, answer }: Stores): Promise<number> {
  const app = new Hono()
  app.post('/', forHono.idempotency(once), () => asResponse(answer()))
  app.get('/', forHono.responseCache(cache), () => asResponse(answer()))
  return portOf(
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as ReturnType<typeof createServer>,
  )
}

function startFetch({ once, cache, answer }: Stores): Promise<number> {
  const post = withIdempotency(once, {}, () => asResponse(answer()))
  const get = withResponseCache(cache, {}, () => asResponse(answer()))
  const both = (request: Request): Promise<Response> => (request.method === 'POST' ? post : get)(request)
  return portOf(serve({ fetch: both, port: 0, hostname: '127.0.0.1' }) as ReturnType<typeof createServer>)
}

/** Resolves to the body, or null where it is broken off; how often the handler has run says `runs`. */
async function answered(port: number, method: string, key: string): Promise<string | null> {
  const headers = { 'idempotency-key': key, 'content-length': '0' }
  const sent = ask({ port, method, agent: false, headers })
  sent.end()
  const [response] = (await event(sent, 'response')) as [AsyncIterable<Buffer>]
  const chunks: Buffer[] = []
  try {
    for await (const chunk of response) chunks.push(chunk)
  } catch {
    return null
  }
  return Buffer.concat(chunks).toString()
}

describe.each([
  ['Express', startExpress],
  ['Fastify, a stream', fastifySends(({ body }) => Readable.from([Buffer.from(body)]))],
  ['Fastify, a web stream', fastifySends(({ body }) => webStream(body))],
  ['Fastify, a web response', fastifySends(asResponse)],
  ['Hono', startHono],
  ['fetch', startFetch],
])('%s', (_, start) => {
  test.each(['POST', 'GET'])(
    'a response to %s that is cut short is broken off, and not kept',
    async (method) => {
      let runs = 0
      const answer = (): Given => ({ length: 8, body: ['half', ''][runs++] ?? String(runs).padStart(8) })
      const port = await start({ ...storesOf(), answer })
      const key = randomUUID()
      const get = () => answered(port, method, key)

      expect([await get(), await get()]).toEqual([null, null])
      // For a moment others may still be for their own handlers.
      const isKept = async () => {
        const [first, again] = [await get(), await get()]
        return first !== null && first === again
      }
      await expect.poll(isKept).toBe(true)
    },
  )
})

test('responses to HEAD, and 304, declare a length that they do not send, and are kept', async () => {
  const { once } = storesOf()
  let runs = 0
  for (const [method, status] of [
    ['HEAD', 200],
    ['POST', 304],
  ] as const) {
    const handle = withIdempotency(once, { methods: [method] }, () => {
      runs++
      return new Response(null, { status, headers: { 'Content-Length': '8' } })
    })
    const asked = () =>
      handle(new Request('http://localhost/', { method, headers: { 'idempotency-key': method } }))
    expect([(await asked()).status, (await asked()).status]).toEqual([status, status])
  }
  expect(runs).toBe(2)
})

test('Fastify declares the real length of a text whose declared length is wrong, and the response is kept', async () => {
  let runs = 0
  const start = fastifySends(({ body }) => body)
  const port = await start({ ...storesOf(), answer: () => ({ length: 8, body: `run ${++runs}` }) })

  expect([await answered(port, 'POST', 'k'), await answered(port, 'POST', 'k')]).toEqual(['run 1', 'run 1'])
  expect(runs).toBe(1)
})
