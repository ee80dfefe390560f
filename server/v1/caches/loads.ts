// Loads by clients: one of them is elected to load a value, and puts it.

import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DetachedLoad, Waiting } from 'perilune'
import type { Routes } from '../api/routes.ts'
import { extended, failed, loading, stored } from './answers.ts'
import { cacheOf, howToKeep, path, Loaded, tags as valueTags } from './arguments.ts'
import { keptText, valueIn } from './values.ts'
import { Extension, lease, strict, WaitQuery } from '../api/arguments.ts'
import { askWaiting } from '../api/leases.ts'
import { Denial } from '../../http/answers/problem-documents.ts'

const url = '/caches/:name/keys/:key/loads'
const Wish = Type.Object({ lease, tags: valueTags }, strict)
const Failing = Type.Object(
  {
    reason: Type.Optional(
      Type.String({ maxLength: 1000, description: 'For waiting clients; default: one of them loads.' }),
    ),
  },
  strict,
)

export function v1CacheLoads(usual: Routes): void {
  const routes = usual.with({ path })
  elect(routes)
  complete(routes)
  keep(routes)
}

function elect(routes: Routes): void {
  routes.post(
    url,
    'Get or load',
    {
      query: WaitQuery,
      description: 'The cached value; or, for one client at a time, the election to load it.',
      body: Wish,
      answers: loading,
    },
    async (request, reply) => {
      const { key } = request.params
      const { lease: lasting = '30s', tags: given = [] } = request.body
      const cache = cacheOf(routes.perilune, request, { lease: lasting })
      const ask = (waiting: Waiting) => cache.loadDetached(key, { tags: given, ...waiting })
      const found = await askWaiting(reply, { waits: routes.waits, wait: request.query.wait }, ask)
      if (found === null) return reply.code(204).send()
      // The client has left before it could load.
      if (found.status === 'elected' && reply.raw.destroyed) await cache.byToken.fail(key, found.load)
      return sendLoad(request, reply, found)
    },
  )
}

function sendLoad(
  request: FastifyRequest,
  reply: FastifyReply,
  found: DetachedLoad<string | null>,
): FastifyReply {
  switch (found.status) {
    case 'found':
      return reply.type('application/json').send(keptText(found))
    case 'elected': {
      const { status: _, ...load } = found
      return reply
        .code(201)
        .header('Location', `${request.url.split('?', 1)[0]}/${load.load}`)
        .send(load)
    }
    case 'loading':
      throw new Denial('loading', 'Another client loads it.', { retryAfterMs: found.retryAfterMs })
    default:
      throw new Denial('load-failed', found.reason)
  }
}

function complete(routes: Routes): void {
  routes.put(
    `${url}/:load/value`,
    'Put the value',
    {
      description: 'Rejected if it was invalidated or set meanwhile, or if another load has begun.',
      body: Loaded,
      answers: stored,
      or: [410],
      large: true,
      documents: ['value'],
    },
    async (request) => {
      const { key, load } = request.params
      const value = valueIn(request.jsonText)
      return cacheOf(routes.perilune, request).byToken.complete(key, load, value, howToKeep(request.body))
    },
  )
}

function keep(routes: Routes): void {
  routes.patch(
    `${url}/:load`,
    'Extend',
    { body: Extension, answers: extended, or: [410] },
    async (request) => {
      const { key, load } = request.params
      return {
        load,
        ...(await cacheOf(routes.perilune, request).byToken.extend(key, load, request.body.lease ?? '30s')),
      }
    },
  )

  routes.delete(
    `${url}/:load`,
    'Give up',
    { query: Failing, answers: failed, or: [410] },
    async (request) => {
      const { key, load } = request.params
      await cacheOf(routes.perilune, request).byToken.fail(key, load, request.query.reason)
    },
  )
}
