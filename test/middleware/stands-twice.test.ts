// The same store twice on a route: for all routes, and with other options on one of them.

import { randomUUID } from 'node:crypto'
import { once as event } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
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
import { describe, expect, onTestFinished, test, vi } from 'vitest'
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
  return served(app)
}

async function served(app: RequestListener): Promise<Ask> {
  const server = createServer(app).listen(0, '127.0.0.1')
  await event(server, 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return asking((method, headers) => fetch(url, { method, headers }))
}

function asking(
  send: (method: string, headers: Record<string, string>) => Response | Promise<Response>,
): Ask {
  return async (method, headers) => {
    const response = await send(method, headers)
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
  return asking((method, headers) => app.request('/', { method, headers }))
}

async function startFetch({ once, cache, ran }: Stores): Promise<Ask> {
  const own = withIdempotency(
    once,
    { required: true },
    withResponseCache(cache, { tags: () => ['own'] }, async () => Response.json(ran())),
  )
  const handle = withIdempotency(once, {}, withResponseCache(cache, {}, own))
  return asking((method, headers) => handle(new Request('http://localhost/', { method, headers })))
}

/** Another `Request`, as middleware makes it that adds a header. */
function renewed(request: Request): Request {
  return new Request(request, { headers: { ...Object.fromEntries(request.headers), 'x-user': 'ada' } })
}

async function startRenewingHono({ once, cache, ran }: Stores): Promise<Ask> {
  const app = new Hono()
  app.use(forHono.idempotency(once), forHono.responseCache(cache))
  app.use(async (context, next) => {
    context.req.raw = renewed(context.req.raw)
    await next()
  })
  app.use(forHono.idempotency(once, { required: true }), forHono.responseCache(cache))
  app.all('/', (context) => context.json(ran()))
  return asking((method, headers) => app.request('/', { method, headers }))
}

const key = (): string => 'page'

/** An app that gets another `Request` than the app around it. */
function innerApp({ once, cache, ran }: Stores): Hono {
  const app = new Hono()
  app.use(forHono.idempotency(once, { required: true }), forHono.responseCache(cache, { key }))
  return app.all('/', (context) => context.json(ran()))
}

async function startMountedHono(stores: Stores): Promise<Ask> {
  const app = new Hono()
  app.use(forHono.idempotency(stores.once), forHono.responseCache(stores.cache, { key }))
  app.mount('/inner', innerApp(stores).fetch)
  return asking((method, headers) => app.request('/inner', { method, headers }))
}

async function startHonoInExpress(stores: Stores): Promise<Ask> {
  const app = express()
  app.use(forExpress.idempotency(stores.once), forExpress.responseCache(stores.cache, { key }))
  app.use(getRequestListener(innerApp(stores).fetch))
  return served(app)
}

describe.each([
  ['Express', startExpress],
  ['Fastify', startFastify],
  ['Hono', startHono],
  ['fetch', startFetch],
  ['Hono with another Request in between', startRenewingHono],
  ['an app that Hono mounts', startMountedHono],
  ['a Hono app in Express', startHonoInExpress],
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

/** A pool that calls back in the context of the request that gave its connection back. */
class Pool {
  readonly #waiting: (() => void)[] = []
  #isFree = true

  take(then: () => void): void {
    if (!this.#isFree) return void this.#waiting.push(then)
    this.#isFree = false
    then()
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isFree = true
    else next()
  }
}

test.each([
  [
    'Express',
    (once: Once<StoredResponse>, pool: Pool, work: () => Promise<number>): RequestListener => {
      const app = express()
      app.use((_request: unknown, _response: unknown, next: () => void) => pool.take(next))
      app.all(
        '/',
        forExpress.idempotency(once),
        (_request: unknown, response: { json(value: unknown): void }) => {
          void work().then((run) => response.json(run))
        },
      )
      return app
    },
  ],
  [
    'fetch',
    (once: Once<StoredResponse>, pool: Pool, work: () => Promise<number>): RequestListener => {
      const handle = withIdempotency(once, {}, async () => Response.json(await work()))
      const listen = getRequestListener(
        (request) => new Promise((resolve) => pool.take(() => resolve(handle(request)))),
      )
      return (request, response) => void listen(request, response)
    },
  ],
])(
  '%s: a retry that is called back in the context of the first request does not run',
  async (_name, start) => {
    const { once } = setup()
    const pool = new Pool()
    let runs = 0
    const work = async (): Promise<number> => {
      const run = (runs += 1)
      await sleep(50)
      pool.give()
      await sleep(100)
      return run
    }
    const ask = await served(start(once, pool, work))

    const first = ask('POST', { 'idempotency-key': 'k' })
    await vi.waitFor(() => expect(runs).toBe(1))
    const retry = ask('POST', { 'idempotency-key': 'k' })

    expect([(await first).status, (await retry).status, runs]).toEqual([200, 409, 1])
  },
)

test('requests that a handler sends at once under one key, with the message of its own, do not run twice', async () => {
  const { once } = setup()
  let runs = 0
  const app = new Hono()
  app.use(forHono.idempotency(once))
  app.post('/order', async (context) => {
    await sleep(50)
    return context.json((runs += 1))
  })
  app.post('/', async (context) => {
    const send = () =>
      app.request('/order', { method: 'POST', headers: { 'idempotency-key': 'order' } }, context.env)
    const answers = await Promise.all([send(), send()])
    return context.json(answers.map(({ status }) => status).toSorted((a, b) => a - b))
  })
  const listen = getRequestListener(app.fetch)
  const ask = await served((request, response) => void listen(request, response))

  const answer = await ask('POST', {})

  expect([runs, JSON.parse(answer.body)]).toEqual([1, [200, 409]])
})

test('requests that a handler sends to its own app at once under one key do not run twice', async () => {
  const { once } = setup()
  let runs = 0
  const app = new Hono()
  app.use(forHono.idempotency(once))
  const send = (path: string, own: string) =>
    app.request(path, { method: 'POST', headers: { 'idempotency-key': own } })
  app.post('/order', (context) => context.json((runs += 1)))
  app.post('/batch', async (context) => {
    const answers = await Promise.all([send('/order', 'order'), send('/order', 'order')])
    return context.json(answers.map(({ status }) => status).toSorted((a, b) => a - b))
  })

  const answer = await send('/batch', 'batch')

  expect([runs, await answer.json()]).toEqual([1, [200, 409]])
})
