// A body that is stored whole is sent with its length: the handler's `Transfer-Encoding`, which upstream answers carry,
// too, must not stand beside it, because clients reject both.

import { once as event } from 'node:events'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { serve } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
import type { Cache, Once } from 'perilune'
import * as forFastify from 'perilune/fastify'
import * as forHono from 'perilune/hono'
import type { KeptResponse, StoredResponse } from 'perilune/middleware'
import { expect, onTestFinished, test } from 'vitest'
import { instance } from '../instance.ts'

const CHUNKED = { 'transfer-encoding': 'chunked', 'content-type': 'text/plain' }
const subject = (): string => 'ada'

interface Given {
  readonly cache: Cache<KeptResponse>
  readonly once: Once<StoredResponse>
}

async function withHono({ cache, once }: Given): Promise<string> {
  const app = new Hono()
  const handler = (): Response => new Response('abc', { headers: CHUNKED })
  app.get('/', forHono.responseCache(cache), handler)
  app.post('/', forHono.idempotency(once, { subject }), handler)
  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
  onTestFinished(() => void server.close())
  await event(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function withFastify({ cache, once }: Given): Promise<string> {
  const app = fastify()
  onTestFinished(() => app.close())
  app.get('/', { ...forFastify.responseCache(cache) }, (_, reply) =>
    reply.headers(CHUNKED).send(Readable.from(['a', 'bc'])),
  )
  app.post('/', { ...forFastify.idempotency(once, { subject }) }, (_, reply) =>
    reply.headers(CHUNKED).send(Readable.from(['a', 'bc'])),
  )
  return app.listen({ port: 0, host: '127.0.0.1' })
}

test.each([
  ['Hono', withHono],
  ['Fastify', withFastify],
])('%s', async (_, start) => {
  const { redis, name } = instance()
  const url = await start({ cache: redis.cache(name, { ttl: '1m' }), once: redis.once(name) })
  for (const method of ['GET', 'GET', 'POST', 'POST']) {
    const answer = await fetch(url, { method, headers: { 'idempotency-key': 'k' } })

    expect(await answer.text()).toBe('abc')
    expect(answer.headers.get('content-length')).toBe('3')
    expect(answer.headers.get('transfer-encoding')).toBeNull()
  }
})
