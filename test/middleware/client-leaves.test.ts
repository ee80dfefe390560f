// Clients that leave while the middleware asks the store, through each framework: nothing is held for them.

import { once as event } from 'node:events'
import { createServer, request, type RequestListener, type Server } from 'node:http'
import { connect } from 'node:http2'
import { createRequire } from 'node:module'
import { type AddressInfo, connect as connectTo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import fastify, { type FastifyReply } from 'fastify'
import { Hono } from 'hono'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import type { KeptResponse } from 'perilune/middleware'
import { describe, expect, onTestFinished, test } from 'vitest'
import { setup } from './fixture.ts'

type Limiter = Parameters<typeof forExpress.rateLimit>[0]
type Store = Parameters<typeof forExpress.idempotency>[0]

/** The stores are called once the first client is there, which leaves then. */
class Left {
  #left: Promise<unknown> = Promise.resolve()
  #noteAsked: () => void = () => undefined
  readonly asked = new Promise<void>((resolve) => (this.#noteAsked = resolve))

  /** Until its connection is closed, and Node has reported it. */
  watch(server: Server): void {
    server.once('connection', (socket: Socket) => {
      this.#left = event(socket, 'close').then(() => nextTurn())
    })
  }

  async after<Answer>(asking: () => Promise<Answer>): Promise<Answer> {
    this.#noteAsked()
    await this.#left
    return asking()
  }
}

interface Given {
  readonly limiter: Limiter
  readonly once: Store
  readonly cache: Parameters<typeof forExpress.responseCache>[0]
  /** Called by each run of a handler; false: its client has left. */
  ran(isHere: boolean): void
}

type Start = (given: Given) => Promise<Server>

const chunks = (): Readable => Readable.from([Buffer.from('a'), Buffer.from('b')])

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  get(path: string, ...handlers: unknown[]): void
  post(path: string, ...handlers: unknown[]): void
}
type ExpressResponse = NodeJS.WritableStream & { readonly destroyed: boolean }
const express: (() => ExpressApp) & { json(): unknown } = createRequire(import.meta.url)('express')

async function startExpress({ limiter, once, cache, ran }: Given): Promise<Server> {
  const app = express()
  const handler = (_: unknown, response: ExpressResponse): void => {
    ran(!response.destroyed)
    chunks().pipe(response)
  }
  const unlessGone = (_: unknown, response: ExpressResponse): void => {
    ran(!response.destroyed)
    if (!response.destroyed) response.end('ab')
  }
  app.get('/limited', forExpress.rateLimit(limiter, { subject: () => 'ada' }), handler)
  app.post('/orders', express.json(), forExpress.idempotency(once), handler)
  app.get('/products', forExpress.responseCache(cache), unlessGone)
  return createServer(app).listen(0, '127.0.0.1')
}

async function startFastify({ limiter, once, cache, ran }: Given): Promise<Server> {
  const app = fastify()
  const handler = async (_: unknown, reply: FastifyReply): Promise<unknown> => {
    ran(!reply.raw.destroyed)
    return reply.send(chunks())
  }
  const unlessGone = async (_: unknown, reply: FastifyReply): Promise<unknown> => {
    ran(!reply.raw.destroyed)
    return reply.raw.destroyed ? reply.hijack() : 'ab'
  }
  app.get('/limited', { ...forFastify.rateLimit(limiter, { subject: () => 'ada' }) }, handler)
  app.post('/orders', { ...forFastify.idempotency(once) }, handler)
  app.get('/products', { ...forFastify.responseCache(cache) }, unlessGone)
  onTestFinished(() => app.close())
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

async function startHono({ limiter, once, cache, ran }: Given): Promise<Server> {
  const app = new Hono()
  const handler = (context: { body(data: ReadableStream): Response }): Response => {
    ran(true)
    return context.body(Readable.toWeb(chunks()) as ReadableStream)
  }
  app.use('/limited', forHono.rateLimit(limiter, { subject: () => 'ada' }))
  app.use('/orders', forHono.idempotency(once))
  app.use('/products', forHono.responseCache(cache))
  app.get('/limited', handler).post('/orders', handler).get('/products', handler)
  return serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server
}

async function started(start: Start) {
  const { redis, once: real } = setup()
  const [left, runs] = [new Left(), [] as boolean[]]
  const places = redis.rateLimit(real.name, { algorithm: 'concurrency', limit: 3, lease: '1h' })
  const kept = redis.cache<KeptResponse>(randomUUID(), { maxLoad: '1h' })
  const cache = Object.create(kept) as typeof kept
  cache.serve = (...args) => left.after(() => kept.serve(...args))
  const server = await start({
    limiter: {
      take: (...args) => left.after(() => places.take(...args)),
      release: (...args) => places.release(...args),
    },
    once: { name: real.name, begin: (...args) => left.after(() => real.begin(...args)) },
    cache,
    ran: (isHere) => void runs.push(isHere),
  })
  if (!server.listening) await event(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  left.watch(server)
  return { port: (server.address() as AddressInfo).port, places, runs, left }
}

const ORDER = { 'idempotency-key': 'k', 'content-type': 'application/json' }

/** Sends a request, and leaves while the store is asked. */
async function ask({ port, left }: { port: number; left: Left }, method: 'GET' | 'POST', path: string) {
  const asking = request({ port, host: '127.0.0.1', method, path, headers: ORDER, agent: false })
  asking.on('error', () => undefined)
  asking.end(method === 'POST' ? '{}' : undefined)
  await left.asked
  asking.destroy()
}

function again(port: number, method: 'GET' | 'POST', path: string): Promise<Response> {
  const body = method === 'POST' ? { body: '{}' } : {}
  return fetch(`http://127.0.0.1:${port}${path}`, { method, headers: ORDER, ...body })
}

/** Sends requests at once, on one connection. */
function askAtOnce(port: number, paths: readonly string[]): Socket {
  const socket = connectTo(port, '127.0.0.1')
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`).join(''))
  return socket
}

const frameworks: [string, Start][] = [
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
]

describe.each(frameworks)('%s: a client that leaves while the store is called', (_, start) => {
  test('holds no place of a concurrency limit', async () => {
    const service = await started(start)
    const { places, runs } = service

    await ask(service, 'GET', '/limited')

    await expect.poll(() => runs.length).toBe(1)
    await expect.poll(async () => (await places.inspect('ada')).held).toEqual([])
  })

  test('does not leave its key to a stream without a reader', async () => {
    const service = await started(start)
    const { port, runs } = service

    await ask(service, 'POST', '/orders')

    await expect.poll(() => runs.length).toBe(1)
    const codeOf = async (): Promise<unknown> => (await again(port, 'POST', '/orders')).text()
    await expect.poll(codeOf).not.toContain('"running"')
    expect(runs.length).toBe(1)
  })

  test('does not keep others waiting for a response that will never arrive', async () => {
    const service = await started(start)
    const { port, runs } = service

    await ask(service, 'GET', '/products')
    await expect.poll(() => runs.length).toBe(1)

    expect(await (await again(port, 'GET', '/products')).text()).toBe('ab')
  })
})

describe.each(frameworks)(
  '%s: a client that leaves while its requests wait after another one',
  (_, start) => {
    test('holds no place of a concurrency limit', async () => {
      const { port, places, runs, left } = await started(start)
      const socket = askAtOnce(port, ['/limited', '/limited', '/limited'])
      await left.asked

      socket.destroy()

      await expect.poll(() => runs.length).toBe(3)
      await expect.poll(async () => (await places.inspect('ada')).held).toEqual([])
    })
  },
)

test('Fastify over HTTP/2: a client that leaves while the store is called holds no place', async () => {
  const { redis, once: named } = setup()
  const places = redis.rateLimit(named.name, { algorithm: 'concurrency', limit: 1, lease: '1h' })
  const closing: Promise<unknown>[] = []
  const limiter: Limiter = {
    take: async (...args) => {
      await Promise.all(closing)
      return places.take(...args)
    },
    release: (...args) => places.release(...args),
  }
  const app = fastify({ http2: true })
  app.addHook('onRequest', async (_, reply) => void closing.push(event(reply.raw, 'close')))
  app.addHook('onRequest', forFastify.rateLimit(limiter, { subject: () => 'ada' }).onRequest)
  const ran = new Promise((resolve) => app.get('/', async () => resolve(null)))
  onTestFinished(() => app.close())
  const client = connect(await app.listen({ port: 0, host: '127.0.0.1' }))
  onTestFinished(() => client.destroy())
  const asking = client.request({ ':path': '/' })
  await expect.poll(() => closing.length).toBe(1)

  asking.destroy()

  await ran
  await expect.poll(async () => (await places.inspect('ada')).held).toEqual([])
})
