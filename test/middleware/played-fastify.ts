// The response table in Fastify, with hooks around as its plugins for CORS, cookies and compression have them.

import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { createGzip, gzipSync } from 'node:zlib'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { idempotency, rateLimit, responseCache } from 'perilune/fastify'
import { onTestFinished } from 'vitest'
import { CACHE, EVERYBODY, ONCE, placeOf, type Player, type Stores } from './player.ts'
import { AROUND, byName, DRESSED, piecesOf, ROWS, type Row } from './response-table.ts'

export const inFastify: Player = {
  name: 'Fastify',
  forms: new Set([
    'nothing',
    'text',
    'bytes',
    'json',
    'stream',
    'web stream',
    'web response',
    'changed after',
    'thrown after',
  ]),
  async start({ once, cache, limits }: Stores) {
    const app = fastify()
    app.get('/after', async () => 'after')
    for (const around of AROUND) {
      await app.register(async (here) => {
        if (around === 'dressed') here.addHook('onRequest', dress)
        if (around === 'compressed') here.addHook('onSend', compress)
        const method = ['GET', 'POST'] as const
        here.route({ method: [...method], url: `/plain/${around}/:row`, handler: give })
        here.post(`/once/${around}/:row`, { ...idempotency(once, ONCE) }, give)
        here.get(`/kept/${around}/:row`, { ...responseCache(cache, CACHE) }, give)
        const onRequest = limits.map((limiter) => rateLimit(limiter, EVERYBODY).onRequest)
        here.get(`/limited/${around}`, { onRequest }, async () => 'ok')
      })
    }
    onTestFinished(() => {
      app.server.closeAllConnections()
      return app.close()
    })
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  },
}

async function give(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { status, headers, body } = ROWS[placeOf(request.url).row] as Row
  if (body.as === 'web response') {
    const bytes = body.text === '' ? null : body.text
    return reply.send(
      new Response(bytes, {
        status,
        headers: headers.map(([name, value]): [string, string] => [name, value]),
      }),
    )
  }
  reply.code(status)
  for (const [name, values] of byName(headers)) reply.header(name, values.length === 1 ? values[0] : values)
  if (body.as === 'nothing') return reply.send()
  if (body.as === 'json') return reply.send(body.value)
  if (body.as === 'bytes') return reply.send(Buffer.from(body.bytes))
  if (body.as === 'stream') return reply.send(Readable.from(piecesOf(body.text)))
  if (body.as === 'web stream') return reply.send(Readable.toWeb(Readable.from(piecesOf(body.text))))
  reply.send(body.text)
  if (body.as === 'changed after') {
    reply.code(500).header('content-language', 'fr').header('x-late', '1').send('late')
  }
  if (body.as === 'thrown after') throw new Error('the audit log failed')
  return reply
}

async function dress(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header('Access-Control-Allow-Origin', DRESSED.origin)
  reply.header('Vary', 'Origin')
  reply.header('X-Request-Id', request.headers['x-request-id'])
  reply.header('Set-Cookie', DRESSED.cookie)
  reply.header(...DRESSED.policy)
}

type Done = (error: Error | null, payload?: unknown) => void

function compress(_: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done): void {
  if (payload instanceof Response) {
    reply.code(payload.status)
    for (const [name, value] of payload.headers) reply.header(name, value)
    return compress(_, reply, payload.body, done)
  }
  const isEmpty = payload === undefined || payload === null || payload === ''
  if (isEmpty || reply.hasHeader('content-encoding')) return done(null, payload)
  reply.header('Content-Encoding', 'gzip')
  reply.header('Vary', 'Accept-Encoding')
  reply.removeHeader('Content-Length')
  if (typeof payload === 'string' || payload instanceof Uint8Array) return done(null, gzipSync(payload))
  const stream = payload instanceof Readable ? payload : Readable.fromWeb(payload as NodeReadableStream)
  done(null, stream.pipe(createGzip()))
}
