// Requests that bypass the hooks of Fastify: actions of their handlers after the answer come too late, as without the
// hooks.

import { randomUUID } from 'node:crypto'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { idempotency, responseCache } from 'perilune/fastify'
import type { KeptResponse } from 'perilune/middleware'
import { expect, onTestFinished, test } from 'vitest'
import { setup } from './fixture.ts'

type Handler = (request: FastifyRequest, reply: FastifyReply) => void

const handlers: [how: string, handle: Handler][] = [
  [
    'throws',
    (_, reply) => {
      void reply.send('first')
      throw new Error('too late')
    },
  ],
  ['answers again', (_, reply) => void [reply.send('first'), reply.send('second')]],
  ['changes its answer', (_, reply) => void [reply.send('first'), reply.code(202).header('x-late', '1')]],
]

test.each(handlers)('a handler that %s after its answer', async (_, handle) => {
  const { once, redis } = setup()
  const app = fastify()
  onTestFinished(() => app.close())
  app.post('/order', { ...idempotency(once) }, handle)
  app.get('/page', { ...responseCache(redis.cache<KeptResponse>(randomUUID())) }, handle)
  const key = { 'idempotency-key': 'of-one' }
  const asked = [
    { method: 'POST', url: '/order' },
    { method: 'POST', url: '/order', headers: key },
    { method: 'GET', url: '/page', headers: { authorization: 'Basic YTpi' } },
    { method: 'GET', url: '/page' },
  ] as const

  for (const request of asked) {
    const { statusCode, body, headers } = await app.inject(request)
    expect({ ...request, statusCode, body, late: headers['x-late'] }).toEqual({
      ...request,
      statusCode: 200,
      body: 'first',
      late: undefined,
    })
  }
})
