// Handlers that fill a buffer again: after it was written, or for the next request. What is kept is what was sent, and
// each client gets its own.

import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { Cache, Once } from 'perilune'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import { type KeptResponse, type StoredResponse, withResponseCache } from 'perilune/middleware'
import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'

interface Given {
  readonly cache: Cache<KeptResponse>
  readonly once: Once<StoredResponse>
}

const BODY = 'aaaabbbbcccc'
const subject = (): string => 'ada'

async function* parts(): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(4)
  for (const word of ['aaaa', 'bbbb', 'cccc']) {
    buffer.write(word)
    yield buffer
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  buffer.fill('x')
}

const shared = Buffer.alloc(8)

/** One buffer for all answers, which is right where it is sent at once. */
function answerFor(user: string): Buffer {
  shared.fill(' ')
  shared.write(user)
  return shared
}

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  get(path: string, ...handlers: unknown[]): void
  post(path: string, ...handlers: unknown[]): void
}
const express: () => ExpressApp = createRequire(import.meta.url)('express')

async function withExpress({ cache, once }: Given): Promise<string> {
  const app = express()
  const handler = async (_: unknown, response: NodeJS.WritableStream): Promise<void> => {
    for await (const part of parts())
      await new Promise<void>((resolve) => response.write(part, () => resolve()))
    response.end()
  }
  app.get('/', forExpress.responseCache(cache), handler)
  app.post('/', forExpress.idempotency(once, { subject }), handler)
  app.get(
    '/user',
    forExpress.responseCache(cache),
    (request: { url: string }, response: NodeJS.WritableStream) => {
      response.end(answerFor(request.url.slice(-2)))
    },
  )
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await event(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function withFastify({ cache, once }: Given): Promise<string> {
  const app = fastify()
  onTestFinished(() => app.close())
  const handler = (_: unknown, reply: { send(body: Readable): unknown }): unknown =>
    reply.send(Readable.from(parts()))
  app.get('/', { ...forFastify.responseCache(cache) }, handler)
  app.post('/', { ...forFastify.idempotency(once, { subject }) }, handler)
  app.get('/user', { ...forFastify.responseCache(cache) }, (request, reply) => {
    void reply.send(answerFor(request.url.slice(-2)))
  })
  return app.listen({ port: 0, host: '127.0.0.1' })
}

async function withHono({ cache, once }: Given): Promise<string> {
  const app = new Hono()
  const handler = (): Response => {
    const source = parts()
    const pull = async (to: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { value, done } = await source.next()
      if (done === true) to.close()
      else to.enqueue(value)
    }
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }))
  }
  app.get('/', forHono.responseCache(cache), handler)
  app.post('/', forHono.idempotency(once, { subject }), handler)
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => void server.close())
  await event(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.each([
  ['Express', withExpress],
  ['Fastify', withFastify],
  ['Hono', withHono],
])('%s keeps the body that it has sent', async (_, start) => {
  const { redis, name } = instance()
  const url = await start({ cache: redis.cache(name, { ttl: '1m' }), once: redis.once(name) })
  const get = async (): Promise<string> => (await fetch(url)).text()
  const post = async (): Promise<string> =>
    (await fetch(url, { method: 'POST', headers: { 'idempotency-key': 'k' } })).text()

  expect([await get(), await get(), await post(), await post()]).toEqual([BODY, BODY, BODY, BODY])
})

const LARGE = 65_536
const LETTERS = 'abcdefghijkl'

/** The letters of a body of large parts, one for each. */
async function lettersOf(url: string): Promise<string> {
  const body = await (await fetch(url)).text()
  return Array.from({ length: body.length / LARGE }, (_, at) => body[at * LARGE]).join('')
}

/** One buffer, which is filled again when more is asked for. */
function largeStream(): ReadableStream<Uint8Array> {
  const buffer = Buffer.alloc(LARGE)
  let at = 0
  const pull = (to: ReadableStreamDefaultController<Uint8Array>): void => {
    if (at === LETTERS.length) return to.close()
    buffer.fill(LETTERS[at] ?? '')
    at += 1
    return to.enqueue(buffer)
  }
  return new ReadableStream({ pull }, { highWaterMark: 0 })
}

test('Express: a handler that heeds backpressure may fill its buffer when it may write on', async () => {
  const { redis, name } = instance()
  const app = express()
  app.get(
    '/',
    forExpress.responseCache(redis.cache(name)),
    async (_: unknown, response: NodeJS.WritableStream) => {
      const buffer = Buffer.alloc(LARGE)
      for (const letter of LETTERS) {
        buffer.fill(letter)
        if (!response.write(buffer)) await event(response, 'drain')
      }
      response.end()
    },
  )
  const server = createServer(app).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await event(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  expect([await lettersOf(url), await lettersOf(url)]).toEqual([LETTERS, LETTERS])
})

test('Hono and Fastify send a body beyond the limit, and behind a rate limit, as it was', async () => {
  const { redis, name } = instance()
  const hono = new Hono()
  const handler = (): Response => new Response(largeStream())
  const limiter = redis.rateLimit(name, { limit: 100, window: '1m' })
  hono.get('/cached', forHono.responseCache(redis.cache(`${name} hono`), { maxBytes: 200_000 }), handler)
  hono.get('/limited', forHono.rateLimit(limiter, { subject }), handler)
  const server = serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => void server.close())
  await event(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const app = fastify()
  onTestFinished(() => app.close())
  app.get('/', { ...forFastify.responseCache(redis.cache(name), { maxBytes: 200_000 }) }, (_, reply) =>
    reply.send(largeStream()),
  )
  const other = await app.listen({ port: 0, host: '127.0.0.1' })

  expect(await Promise.all([`${url}/cached`, `${url}/limited`, other].map(lettersOf))).toEqual([
    LETTERS,
    LETTERS,
    LETTERS,
  ])
})

test('a stream of what is neither text nor bytes breaks off, and is not kept', async () => {
  const { redis, name } = instance()
  const handler = withResponseCache(redis.cache<KeptResponse>(name), {}, () => {
    const pull = (to: ReadableStreamDefaultController): void => {
      to.enqueue(new ArrayBuffer(3))
      to.close()
    }
    return new Response(new ReadableStream({ pull }))
  })
  for (let round = 0; round < 2; round += 1) {
    await expect(handler(new Request('http://localhost/')).then((answer) => answer.text())).rejects.toThrow(
      TypeError,
    )
  }
})

test.each([
  ['Express', withExpress],
  ['Fastify', withFastify],
])('%s gives each client the answer to its own request', async (_, start) => {
  const { redis, name } = instance()
  const url = await start({ cache: redis.cache(name, { ttl: '1m' }), once: redis.once(name) })
  const users = Array.from({ length: 20 }, (_unused, at) => `${at + 10}`)
  const ask = async (user: string): Promise<string> =>
    (await (await fetch(`${url}/user?${user}`)).text()).trim()

  for (let round = 0; round < 2; round += 1) {
    expect(await Promise.all(users.map(ask))).toEqual(users)
  }
})
