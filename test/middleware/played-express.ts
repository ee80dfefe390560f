// The response table in Express, with the middleware that services have around: cors, cookie-session and compression.

import { once as event } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { idempotency, rateLimit, responseCache } from 'perilune/express'
import { onTestFinished } from 'vitest'
import { CACHE, EVERYBODY, ONCE, placeOf, type Player, type Stores } from './player.ts'
import { byName, DRESSED, piecesOf, ROWS, type Row } from './response-table.ts'

type Next = (error?: unknown) => void
type Response = ServerResponse & {
  status(status: number): Response
  send(body: unknown): void
  json(body: unknown): void
}
type Request = IncomingMessage & { url: string; session?: object }
type Middleware = (request: Request, response: Response, next: Next) => unknown

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  set(setting: string, value: unknown): void
  use(...handlers: unknown[]): void
  all(path: string, ...handlers: unknown[]): void
}
const require = createRequire(import.meta.url)
const express: (() => ExpressApp) & { json(): unknown } = require('express')
const compression: (options: object) => Middleware = require('compression')
const cors: (options: object) => Middleware = require('cors')
const session: (options: object) => Middleware = require('cookie-session')

export const inExpress: Player = {
  name: 'Express',
  forms: new Set([
    'nothing',
    'text',
    'bytes',
    'json',
    'stream',
    'written head',
    'written list',
    'changed after',
    'thrown after',
    'late head',
    'refused write',
    'refused end',
    'refused reason',
    'refused status',
  ]),
  brokenOff: new Set(['thrown after', 'refused write']),
  async start({ once, cache, limits }: Stores) {
    const app = express()
    // Its errors are not logged.
    app.set('env', 'test')
    app.use('/:kind/dressed', cors({ origin: [DRESSED.origin, 'https://other.example'] }))
    app.use('/:kind/dressed', session(SESSION), dress)
    app.use('/:kind/compressed', compression({ threshold: 0 }))
    app.all('/plain/:around/:row', express.json(), give)
    app.all('/once/:around/:row', express.json(), idempotency(once, ONCE), give)
    app.all('/kept/:around/:row', responseCache(cache, CACHE), give)
    const [first, second] = limits.map((limiter) => rateLimit(limiter, EVERYBODY))
    app.all('/limited/:around', first, second, (_: unknown, response: Response) => response.send('ok'))
    app.all('/after', (_: unknown, response: Response) => response.send('after'))
    app.use(withoutStack)
    const server = createServer(app).listen(0, '127.0.0.1')
    await event(server, 'listening')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return (server.address() as AddressInfo).port
  },
}

// Its cookie is said as the head is written.
const SESSION = { name: 'visit', keys: ['key'] }

/** The place of a thrown error is not compared. */
function withoutStack(error: Error, _request: unknown, _response: unknown, next: Next): void {
  error.stack = 'it failed'
  next(error)
}

const give: Middleware = (request, response) => {
  const { status, headers, body } = rowOf(request)
  response.status(body.as.startsWith('refused') ? 200 : status)
  if (body.as === 'late head') return giveLate(response, rowOf(request), body.text)
  if (body.as === 'written head') {
    response.writeHead(status, Object.fromEntries(headers))
    return response.end(body.text)
  }
  if (body.as === 'written list') {
    response.writeHead(status, headers.flat())
    response.write(body.text.slice(0, 3))
    return response.end(body.text.slice(3))
  }
  for (const [name, values] of byName(headers)) {
    if (name === 'Set-Cookie') response.appendHeader(name, values)
    else response.setHeader(name, values.length === 1 ? String(values) : values)
  }
  if (body.as === 'nothing') return response.end()
  if (body.as === 'json') return response.json(body.value)
  if (body.as === 'bytes') return response.end(body.bytes)
  if (body.as === 'stream') return Readable.from(piecesOf(body.text)).pipe(response)
  refuse(response, body.as)
  response.end(body.text)
  if (body.as === 'changed after') changeAfter(response)
  if (body.as === 'thrown after') throw new Error('the audit log failed')
}

/** As on-headers does, which cookie-session, express-session and response-time use. */
function giveLate(response: Response, { status, headers }: Row, text: string): void {
  const { writeHead } = response
  response.status(200)
  response.writeHead = (): Response => {
    response.statusCode = status
    for (const [name, value] of headers) response.setHeader(name, value)
    return writeHead.call<Response, [number], Response>(response, status)
  }
  response.end(text)
}

/** Values that make Node throw when it takes them. */
function refuse(response: Response, as: Row['body']['as']): void {
  if (as === 'refused write') response.write(undefined)
  if (as === 'refused end') response.end(42)
  if (as === 'refused reason') response.statusMessage = 'over\nlines'
  if (as === 'refused status') response.statusCode = 1000
}

function rowOf({ originalUrl }: IncomingMessage & { originalUrl?: string }): Row {
  return ROWS[placeOf(originalUrl ?? '').row] as Row
}

/** Each as in a handler without a `return`. */
function changeAfter(response: Response): void {
  const changes = [
    () => (response.statusCode = 500),
    () => response.setHeader('Content-Length', '2'),
    () => response.writeHead(500, { 'X-Late': '1' }),
    () => response.json({ late: true }),
    () => response.end(),
  ]
  for (const change of changes) {
    try {
      change()
    } catch {
      // As without the middleware.
    }
  }
}

const dress: Middleware = (request, response, next) => {
  request.session = { user: 'ada' }
  response.setHeader('X-Request-Id', request.headers['x-request-id'] ?? '')
  response.setHeader('Set-Cookie', DRESSED.cookie)
  response.setHeader(...DRESSED.policy)
  // Handlers say better.
  response.setHeader('Content-Type', 'application/octet-stream')
  response.setHeader('Content-Language', 'en')
  next()
}
