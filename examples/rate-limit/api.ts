// An API that allows each key ten calls a second, a thousand a day and three at once. Run it with
//   npx tsx examples/rate-limit/api.ts [port]
// and then, in another terminal:
//   curl -i -H 'X-API-Key: ada' http://127.0.0.1:8099/

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as work } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { perilune, rateLimitHeaders } from 'perilune'
import { ioredis } from 'perilune/ioredis'

const client = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379')
await using redis = perilune(ioredis(client), { namespace: 'example', deadline: '500ms' })
const calls = redis.rateLimit('api', {
  limits: {
    perSecond: { limit: 10, window: '1s' },
    perDay: { limit: 1000, window: '1d', algorithm: 'sliding-window' },
    parallel: { algorithm: 'concurrency', limit: 3, lease: '30s' },
  },
  onOutage: 'fail-open',
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const key = String(request.headers['x-api-key'] ?? request.socket.remoteAddress)
  const decision = await calls.take(key)
  for (const [name, value] of Object.entries(rateLimitHeaders(decision))) response.setHeader(name, value)
  if (!decision.allowed) {
    response.writeHead(decision.outage ? 503 : 429).end()
    return
  }
  try {
    await work(300)
    response.end('done\n')
  } finally {
    // A place that cannot be given back is free when its lease ends.
    if (!decision.outage) await calls.release(key, decision.token).catch(() => undefined)
  }
}

const server = createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    response.writeHead(500).end()
  })
})
const port = Number(process.argv[2] ?? 8099)
server.listen(port, '127.0.0.1')
await once(server, 'listening')
console.log(`listening on http://127.0.0.1:${port}/; leave with Ctrl-C`)
await once(process, 'SIGINT')
server.close()
server.closeAllConnections()
client.disconnect()
