// npx tsx examples/middleware/fastify.ts

import fastify from 'fastify'
import { idempotency, rateLimit, responseCache } from 'perilune/fastify'
import { HOST, limiter, orders, pages, PORT, tellWhere } from './stores.ts'

const app = fastify()
app.addHook('onRequest', rateLimit(limiter, { subject: (request) => request.ip }).onRequest)
app.post('/orders', { ...idempotency(orders, { required: true }) }, (request, reply) =>
  reply.code(201).send({ order: request.body, at: Date.now() }),
)
app.get('/products', { ...responseCache(pages) }, () => ({ tea: 3, madeAt: Date.now() }))
await app.listen({ host: HOST, port: PORT })
tellWhere()
