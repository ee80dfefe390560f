// The response table in Fastify, with its plugins for CORS and compression around.

import { Readable } from 'node:stream'
import fastifyCompress from '@fastify/compress'
import fastifyCors from '@fastify/cors'
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
    'refused header',
    'refused payload',
  ]),
  async start({ once, cache, limits }: Stores) {
    const app = fastify()
    app.get('/after', async () => 'after')
    for (const around of AROUND) {
      await app.register(async (here) => {
        if (around === 'dressed') await here.register(fastifyCors, { origin: [DRESSED.origin, /other/] })
        if (around === 'dressed') here.addHook('onRequest', dress)
        if (around === 'compressed')
          await here.register(fastifyCompress, { threshold: 0, encodings: ['gzip'] })
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
  if (body.as === 'refused header') return reply.header('x-odd', '€').send('tea')
  if (body.as === 'refused payload') return reply.type('text/plain').send({ no: 'text' })
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
  reply.header('X-Request-Id', request.headers['x-request-id'])
  reply.header('Set-Cookie', DRESSED.cookie)
  reply.header(...DRESSED.policy)
}
