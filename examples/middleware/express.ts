// npx tsx examples/middleware/express.ts

import { createRequire } from 'node:module'
import { idempotency, rateLimit, responseCache } from 'perilune/express'
import { HOST, limiter, orders, pages, PORT, tellWhere } from './stores.ts'

// Express has no types of its own; with @types/express this is `import express from 'express'`.
interface App {
  use(...handlers: unknown[]): void
  get(path: string, ...handlers: unknown[]): void
  post(path: string, ...handlers: unknown[]): void
  listen(port: number, host: string, listening: () => void): void
}
interface Reply {
  json(value: unknown): void
  status(status: number): { json(value: unknown): void }
}
const express: (() => App) & { json(): unknown } = createRequire(import.meta.url)('express')

const app = express()
app.use(rateLimit(limiter, { subject: (request) => request.ip ?? '' }), express.json())
app.post('/orders', idempotency(orders, { required: true }), (request: { body: unknown }, reply: Reply) => {
  reply.status(201).json({ order: request.body, at: Date.now() })
})
app.get('/products', responseCache(pages), (_request: unknown, reply: Reply) => {
  reply.json({ tea: 3, madeAt: Date.now() })
})
app.listen(PORT, HOST, tellWhere)
