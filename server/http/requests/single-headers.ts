// Headers that name the tenant or the idempotency key: each is checked, and must be given once. Otherwise a proxy in
// front of this service may have read another value than the service does.

import type { Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { InvalidArgumentError } from 'perilune'

const ONCE = [
  'Host',
  'Origin',
  'Content-Type',
  'Content-Encoding',
  'X-Project-ID',
  'Client-ID',
  'Idempotency-Key',
  'Last-Event-ID',
  'URL-Signature',
  'URL-Paths',
  'URL-Methods',
  'URL-Expires',
] as const

export function refuseRepeatedHeaders(app: Pick<FastifyInstance, 'addHook'>, server: Server): void {
  // By default Node silently drops header lines after the first thousand. Their size is bounded instead.
  server.maxHeadersCount = 0
  app.addHook('onRequest', async ({ raw }) => {
    if (raw.httpVersion === '1.1' && raw.headers.host === undefined)
      throw new InvalidArgumentError('Host', 'must be given')
    for (const name of ONCE) {
      const lines = raw.headersDistinct[name.toLowerCase()]
      if (lines !== undefined && lines.length > 1) throw new InvalidArgumentError(name, 'must be given once')
    }
  })
}
