// npx tsx examples/middleware/hono.ts

import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { idempotency, rateLimit, responseCache } from 'perilune/hono'
import { HOST, limiter, orders, pages, PORT, tellWhere } from './stores.ts'

const app = new Hono()
app.use(rateLimit(limiter, { subject: (request) => request.headers.get('x-api-key') ?? 'anybody' }))
app.post('/orders', idempotency(orders, { required: true }), async (context) => {
  const order: unknown = await context.req.json()
  return context.json({ order, at: Date.now() }, 201)
})
app.get('/products', responseCache(pages), (context) => context.json({ tea: 3, madeAt: Date.now() }))
serve({ fetch: app.fetch, hostname: HOST, port: PORT }, tellWhere)
