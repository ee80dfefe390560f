// Outer middleware decides about a response when it is sent: it sets a cookie, makes it private, or fails. A response
// for one client is kept for no other, in any order of the middleware.

import { randomUUID } from 'node:crypto'
import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import fastifyCompress from '@fastify/compress'
import { serve } from '@hono/node-server'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import * as forExpress from 'perilune/express'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import type { KeptResponse } from 'perilune/middleware'
import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'
import { setup } from './fixture.ts'

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  get(path: string, ...handlers: unknown[]): void
}
interface Visit {
  session: { visit?: string }
}
interface ExpressResponse {
  send(text: string): void
}
const require = createRequire(import.meta.url)
const express: () => ExpressApp = require('express')
const cookieSession: (options: object) => unknown = require('cookie-session')
const expressSession: (options: object) => unknown = require('express-session')

type Cache = Parameters<typeof forExpress.responseCache>[0]

function newCache(): Cache {
  return instance().redis.cache<KeptResponse>(randomUUID())
}

async function listening(app: ExpressApp): Promise<string> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The responses of several clients, one after another: the body, its source, and whether it sets a cookie. */
async function visits(url: string): Promise<[body: string, from: string, isSet: boolean][]> {
  const seen: [string, string, boolean][] = []
  for (let client = 0; client < 3; client += 1) {
    const { headers, ...answer } = await fetch(url).then(async (response) => ({
      headers: response.headers,
      body: await response.text(),
    }))
    const from = (headers.get('cache-status') ?? '').replace(/^perilune; |;.*$/g, '')
    seen.push([answer.body, from.replace(/; ttl.*/, ''), headers.getSetCookie().length > 0])
  }
  return seen
}

const VISITS = [
  ['visit 1', 'fwd=miss', true],
  ['visit 2', 'fwd=bypass', true],
  ['visit 3', 'fwd=bypass', true],
]

const sessions: [name: string, session: () => unknown][] = [
  ['cookie-session', () => cookieSession({ keys: ['key'] })],
  ['express-session', () => expressSession({ secret: 'key', resave: false, saveUninitialized: false })],
]
const places = ['before', 'behind'] as const

test.each(sessions.flatMap(([name, session]) => places.map((place) => [name, place, session] as const)))(
  'Express: a page that begins a session is not kept, with %s %s',
  async (_, place, session) => {
    let visit = 0
    const kept = forExpress.responseCache(newCache())
    const begin = (request: Visit, response: ExpressResponse): void => {
      request.session.visit = `visit ${(visit += 1)}`
      response.send(request.session.visit)
    }
    const app = express()
    app.get('/', ...(place === 'before' ? [session(), kept] : [kept, session()]), begin)

    expect(await visits(await listening(app))).toEqual(VISITS)
  },
)

test('Hono: a page is not kept when an outer middleware sets a cookie after the page was made', async () => {
  const app = new Hono()
  let visit = 0
  app.use(async (context, next) => {
    await next()
    setCookie(context, 'visit', String(visit))
  })
  app.get('/', forHono.responseCache(newCache()), (context) => context.text(`visit ${(visit += 1)}`))
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await event(server, 'listening')
  onTestFinished(() => void server.close())

  const { port } = server.address() as AddressInfo
  expect(await visits(`http://127.0.0.1:${port}`)).toEqual(VISITS)
})

type Late = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => Promise<unknown>

/** A service whose `/` is behind the cache, with a hook that was added later. */
async function fastifyWith(hooks: object, later: Late): Promise<[app: FastifyInstance, url: string]> {
  const app = fastify()
  for (const [name, hook] of Object.entries(hooks)) app.addHook(name as 'onSend', hook)
  app.addHook('onSend', later)
  let visit = 0
  app.get('/', async () => `visit ${(visit += 1)}`)
  app.post('/', async () => `visit ${(visit += 1)}`)
  app.post('/odd', async (_, reply) => reply.type('text/plain').send({ no: 'text' }))
  app.post('/past', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(201).end('past')
  })
  app.post('/events', (_, reply) => {
    reply.hijack()
    reply.raw.writeHead(201).write('data: 1')
  })
  onTestFinished(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  return [app, await app.listen({ port: 0, host: '127.0.0.1' })]
}

const cookie: Late = async (_, reply) => void reply.header('set-cookie', 'visit=1')
const secret: Late = async (_, reply) => void reply.header('cache-control', 'private')
const failure: Late = async (_, reply) => void reply.code(503)

test.each([
  ['sets a cookie', cookie],
  ['says that it is private', secret],
  ['makes a failure of it', failure],
])('Fastify: a page is not kept when a hook that was added later %s', async (_, later) => {
  const [, url] = await fastifyWith(forFastify.responseCache(newCache()), later)

  expect((await visits(url)).map(([body]) => body)).toEqual(['visit 1', 'visit 2', 'visit 3'])
})

test('Fastify: a response that a later hook encodes is kept unencoded', async () => {
  const app = fastify()
  const hooks = forFastify.responseCache(newCache())
  app.addHook('preHandler', hooks.preHandler)
  app.addHook('onSend', hooks.onSend)
  await app.register(fastifyCompress, { threshold: 0 })
  app.get('/', async () => 'tea')
  onTestFinished(() => app.close())

  const seen = await visits(await app.listen({ port: 0, host: '127.0.0.1' }))

  expect(seen.map(([body, from]) => [body, from])).toEqual([
    ['tea', 'fwd=miss'],
    ['tea', 'hit'],
    ['tea', 'hit'],
  ])
})

test('Fastify: when a later hook fails, the failure is the answer', async () => {
  const [, url] = await fastifyWith(forFastify.idempotency(setup().once), async (_, reply, payload) => {
    if (reply.statusCode === 200) throw new Error('the audit log is away')
    return payload
  })
  const asked = { method: 'POST', headers: { 'idempotency-key': randomUUID() } }

  const answers = [await fetch(url, asked), await fetch(url, asked)]

  expect(answers.map(({ status }) => status)).toEqual([500, 500])
})

test.each([
  ['makes a text of', [200, 409]],
  ['leaves', [500, 500]],
])('Fastify: an invalid payload is no response yet, and a later hook %s it', async (does, expected) => {
  const hooks = forFastify.idempotency(setup().once)
  const making: Late = async (_, _reply, payload) => (typeof payload === 'object' ? 'tea' : payload)
  const [, url] = await fastifyWith(hooks, does === 'leaves' ? async (_, _reply, payload) => payload : making)
  const asked = { method: 'POST', headers: { 'idempotency-key': randomUUID() } }

  const answers = [await fetch(`${url}/odd`, asked), await fetch(`${url}/odd`, asked)]

  expect(answers.map(({ status }) => status)).toEqual(expected)
})

test.each([
  ['to its end', '/past'],
  ['until its client left', '/events'],
])('Fastify: a request whose response bypassed the hook, %s, does not run again', async (_, path) => {
  const [, url] = await fastifyWith(
    forFastify.idempotency(setup().once),
    async (_r, _reply, payload) => payload,
  )
  const asked = { method: 'POST', headers: { 'idempotency-key': randomUUID() } }
  const code = async (): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, asked)
    return ((await response.json()) as { code: unknown }).code
  }

  const first = await fetch(`${url}${path}`, asked)
  expect(first.status).toBe(201)
  if (path === '/past') expect(await first.text()).toBe('past')
  else await first.body?.cancel()

  await expect.poll(code).toBe('response-not-kept')
})
