// The response table in Hono, on Node, with Hono's own middleware around; and in a handler of fetch without a
// framework.

import { once as event } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { compress } from 'hono/compress'
import { setCookie } from 'hono/cookie'
import { cors } from 'hono/cors'
import { requestId } from 'hono/request-id'
import { validator } from 'hono/validator'
import { idempotency, rateLimit, responseCache } from 'perilune/hono'
import { withIdempotency, withRateLimit, withResponseCache } from 'perilune/middleware'
import { onTestFinished } from 'vitest'
import { CACHE, EVERYBODY, ONCE, placeOf, type Player, type Stores } from './player.ts'
import { byName, DRESSED, piecesOf, ROWS, type Row } from './response-table.ts'

type Fetch = (request: Request) => Response | Promise<Response>

const WEB_FORMS: Player['forms'] = new Set([
  'nothing',
  'text',
  'bytes',
  'json',
  'stream',
  'web stream',
  'web response',
])

export const inHono: Player = {
  name: 'Hono',
  forms: WEB_FORMS,
  async start({ once, cache, limits }: Stores) {
    const app = new Hono()
    const cookie = async (context: Context, next: () => Promise<void>): Promise<void> => {
      setCookie(context, 'session', 's1', { path: '/' })
      context.header(...DRESSED.policy)
      await next()
    }
    app.use('/:kind/dressed/*', cors({ origin: DRESSED.origin }), requestId(), cookie)
    // It reads the body.
    app.use(
      '/:kind/dressed/*',
      validator('json', (value) => value),
    )
    app.use('/:kind/compressed/*', compress({ threshold: 0 }))
    app.all('/plain/:around/:row', give)
    app.all('/once/:around/:row', idempotency(once, ONCE), give)
    app.get('/kept/:around/:row', responseCache(cache, CACHE), give)
    const [first, second] = limits
    app.get('/limited/:around', rateLimit(first, EVERYBODY), rateLimit(second, EVERYBODY), (context) =>
      context.text('ok'),
    )
    app.get('/after', (context) => context.text('after'))
    return listen(app.fetch)
  },
}

export const inFetch: Player = {
  name: 'fetch',
  forms: WEB_FORMS,
  async start({ once, cache, limits: [first, second] }: Stores) {
    const routes: Record<string, Fetch> = {
      plain: responseOf,
      once: withIdempotency(once, ONCE, responseOf),
      kept: withResponseCache(cache, CACHE, responseOf),
      limited: withRateLimit(
        first,
        EVERYBODY,
        withRateLimit(second, EVERYBODY, () => new Response('ok')),
      ),
      after: () => new Response('after'),
    }
    return listen(async (request) => {
      const { kind, around } = placeOf(new URL(request.url).pathname)
      const response = await (routes[kind] as Fetch)(request)
      if (around === 'dressed') return dressed(request, response)
      return around === 'compressed' ? compressed(response) : response
    })
  },
}

async function listen(fetch: Fetch): Promise<number> {
  const server = serve({ fetch, port: 0, hostname: '127.0.0.1' })
  if (!server.listening) await event(server, 'listening')
  onTestFinished(() => {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

function give(context: Context): Response {
  const row = ROWS[placeOf(context.req.path).row] as Row
  const { status, headers, body } = row
  if (body.as === 'web response') return responseOf(context.req.raw)
  const given = Object.fromEntries(byName(headers))
  if (body.as === 'json') return context.json(body.value as object, status as 200, given)
  return context.body(bodyOf(row) as ReadableStream, status as 200, given)
}

function responseOf(request: Request): Response {
  const row = ROWS[placeOf(new URL(request.url).pathname).row] as Row
  const headers = new Headers(row.headers.map(([name, value]): [string, string] => [name, value]))
  if (row.body.as === 'json') return Response.json(row.body.value, { status: row.status, headers })
  return new Response(bodyOf(row) as ReadableStream | null, { status: row.status, headers })
}

function bodyOf({ body }: Row): unknown {
  if (body.as === 'nothing' || body.as === 'json') return null
  if (body.as === 'bytes') return new Uint8Array(body.bytes)
  if (body.as === 'stream' || body.as === 'web stream')
    return Readable.toWeb(Readable.from(piecesOf(body.text)))
  return body.text === '' && body.as === 'web response' ? null : body.text
}

function dressed(request: Request, response: Response): Response {
  const put = new Response(response.body, response)
  put.headers.set('access-control-allow-origin', DRESSED.origin)
  put.headers.append('vary', 'Origin')
  put.headers.set('x-request-id', request.headers.get('x-request-id') ?? '')
  put.headers.append('set-cookie', DRESSED.cookie)
  put.headers.set(...DRESSED.policy)
  return put
}

function compressed(response: Response): Response {
  if (response.body === null || response.headers.has('content-encoding')) return response
  const zipped = new Response(response.body.pipeThrough(new CompressionStream('gzip')), response)
  zipped.headers.set('content-encoding', 'gzip')
  zipped.headers.append('vary', 'Accept-Encoding')
  zipped.headers.delete('content-length')
  return zipped
}
