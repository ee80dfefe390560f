// The routes describe themselves; the description is served.

import swagger, { type SwaggerTransform } from '@fastify/swagger'
import type { App } from '../../http/fastify.ts'
import { DEFAULT_TENANT } from '../../http/requests/tenant.ts'

declare module 'fastify' {
  interface FastifySchema {
    /** Headers that the route reads, with their meanings. */
    described?: Readonly<Record<string, string>>
  }
}

const INFO = {
  title: 'Perilune',
  version: '1',
  description:
    'Feeds, queues, counters, locks, elections, semaphores, rate limits and idempotency keys over HTTP. Durations are texts with a unit (`30s`). In answers, durations end in `Ms` and times in `AtMs`.',
}
const TENANT = {
  type: 'string',
  maxLength: 256,
  description: `The tenant, whose data no other tenant sees; default \`${DEFAULT_TENANT}\`.`,
}

/** Describes every route that is registered after it. */
export async function describeRoutes(app: App): Promise<void> {
  const openapi = { openapi: '3.1.0', info: INFO }
  await app.register(swagger, { openapi, hideUntagged: true, transform: addTenant })
}

/**
 * Serves the description at `openapi.json`. It is generated once, because that takes milliseconds outside of any turn.
 */
export function serveDescription(app: App): void {
  let written: Buffer | undefined
  app.get('/openapi.json', async (_request, reply) => {
    written ??= Buffer.from(JSON.stringify(app.swagger()))
    return reply.type('application/json; charset=utf-8').send(written)
  })
}

/** Headers are only described here: the routes read them, because a repeated header must be rejected. */
const addTenant: SwaggerTransform = ({ schema, url }) => {
  const { described = {} } = schema ?? {}
  const others = Object.entries(described).map(([name, description]) => [
    name,
    { type: 'string', description },
  ])
  const properties = { 'X-Project-ID': TENANT, ...Object.fromEntries(others) }
  return { schema: { ...schema, headers: { type: 'object', properties } }, url }
}
