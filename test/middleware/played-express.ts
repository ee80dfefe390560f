// The response table in Express, with the middleware that services have around: in this style cors, express-session, compression and
// the like are written.

import { once as event } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
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
type Middleware = (request: IncomingMessage & { url: string }, response: Response, next: Next) => unknown

// Express has no types of its own.
interface ExpressApp extends RequestListener {
  set(setting: string, value: unknown): void
  use(...handlers: unknown[]): void
  all(path: string, ...handlers: unknown[]): void
}
const express: (() => ExpressApp) & { json(): unknown } = createRequire(import.meta.url)('express')

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
  ]),
  async start({ once, cache, limits }: Stores) {
    const app = express()
    // Its errors go to nobody.
    app.set('env', 'test')
    app.use('/:kind/dressed', dress)
    app.use('/:kind/compressed', compress)
    app.all('/plain/:around/:row', express.json(), give)
    app.all('/once/:around/:row', express.json(), idempotency(once, ONCE), give)
    app.all('/kept/:around/:row', responseCache(cache, CACHE), give)
    const [first, second] = limits.map((limiter) => rateLimit(limiter, EVERYBODY))
    app.all('/limited/:around', first, second, (_: unknown, response: Response) => response.send('ok'))
    app.all('/after', (_: unknown, response: Response) => response.send('after'))
    const server = createServer(app).listen(0, '127.0.0.1')
    await event(server, 'listening')
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    return (server.address() as AddressInfo).port
  },
}

const give: Middleware = (request, response) => {
  const { status, headers, body } = rowOf(request)
  response.status(status)
  if (body.as === 'written head') {
    response.writeHead(status, Object.fromEntries(byName(headers)))
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
  response.end((body as { text: string }).text)
  if (body.as === 'changed after') changeAfter(response)
  if (body.as === 'thrown after') throw new Error('the audit log failed')
}

function rowOf({ originalUrl }: IncomingMessage & { originalUrl?: string }): Row {
  return ROWS[placeOf(originalUrl ?? '').row] as Row
}

/** Each as a handler that has forgotten its `return` may. */
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
  response.setHeader('Access-Control-Allow-Origin', DRESSED.origin)
  response.setHeader('Vary', 'Origin')
  response.setHeader('X-Request-Id', request.headers['x-request-id'] ?? '')
  response.setHeader('Set-Cookie', DRESSED.cookie)
  response.setHeader(...DRESSED.policy)
  // Handlers say better.
  response.setHeader('Content-Type', 'application/octet-stream')
  response.setHeader('Content-Language', 'en')
  next()
}

/** What is written is sent at the end, by gzip; the head is changed when it is written. */
const compress: Middleware = (_, response, next) => {
  const { writeHead, end } = response
  const chunks: Buffer[] = []
  const add = (chunk: unknown): void => {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk as string))
  }
  const change = (): boolean => {
    if (response.headersSent || [204, 304].includes(response.statusCode)) return false
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Vary', 'Accept-Encoding')
    response.removeHeader('Content-Length')
    return true
  }
  let isZipping = false
  Object.assign(response, {
    writeHead: (...args: [number]) => {
      for (const [name, value] of headersIn(args)) response.setHeader(name, value)
      response.statusCode = args[0]
      isZipping = change()
      return writeHead.call(response, args[0])
    },
    write: (chunk: unknown) => {
      add(chunk)
      return true
    },
    end: (chunk: unknown) => {
      if (response.writableEnded) return response
      add(chunk)
      if (!response.headersSent) response.writeHead(response.statusCode)
      const whole = Buffer.concat(chunks)
      return end.call(response, isZipping ? gzipSync(whole) : whole, 'utf8')
    },
  })
  next()
}

function headersIn([, headers]: unknown[]): [string, string | string[]][] {
  if (!Array.isArray(headers)) return Object.entries((headers ?? {}) as Record<string, string>)
  const pairs = headers.flatMap((name, at) =>
    at % 2 === 0 ? [[name, headers[at + 1]] as [string, string]] : [],
  )
  return [...byName(pairs)]
}
