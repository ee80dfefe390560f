// Loads by clients: one of them is elected to make a value, and hands it in.

import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { LentLoad, Waiting } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { extended, failed, lent, stored } from './answers.ts'
import { cacheOf, howToKeep, KeyPath, Loaded, LoadPath, tags as valueTags } from './arguments.ts'
import { keptText, valueIn } from './values.ts'
import { Extension, lease, NoQuery, strict, WaitQuery } from '../api/strictness.ts'
import { askWaiting, type Parts } from '../api/lending.ts'
import { Denial } from '../../http/answers/problem-documents.ts'

const tags = ['caches']
const url = '/caches/:name/keys/:key/loads'
const Wish = Type.Object({ lease, tags: valueTags }, strict)
const Failing = Type.Object(
  {
    reason: Type.Optional(
      Type.String({ maxLength: 1000, description: 'For those who wait; default: one of them loads.' }),
    ),
  },
  strict,
)

export function v1CacheLoads(app: App, parts: Parts): void {
  elect(app, parts)
  complete(app, parts)
  keep(app, parts)
}

function elect(app: App, parts: Parts): void {
  const schema = {
    tags,
    summary: 'Get or load',
    description: 'What is kept; or, for one client at a time, the election to load it.',
    params: KeyPath,
    querystring: WaitQuery,
    body: Wish,
    response: answers(lent, ...BODY),
  }
  const options = { schema, bodyLimit: parts.limits.maxOtherBytes }
  app.post(url, options, async (request, reply) => {
    const { key } = request.params
    const { lease: lasting = '30s', tags: given = [] } = request.body
    const cache = cacheOf(parts.perilune, request, { lease: lasting })
    const ask = (waiting: Waiting) => cache.lend(key, { tags: given, ...waiting })
    const found = await askWaiting(reply, { waits: parts.waits, wait: request.query.wait }, ask)
    if (found === null) return reply.code(204).send()
    // Nobody is there to load.
    if (found.status === 'elected' && reply.raw.destroyed) await cache.fail(key, found.load)
    return sendLoad(request, reply, found)
  })
}

function sendLoad(
  request: FastifyRequest,
  reply: FastifyReply,
  found: LentLoad<string | null>,
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
      throw new Denial('loading', 'Somebody else loads it.', { retryAfterMs: found.retryAfterMs })
    default:
      throw new Denial('load-failed', found.reason)
  }
}

function complete(app: App, { perilune, limits }: Parts): void {
  const schema = {
    tags,
    summary: 'Put the value',
    description: 'Refused when it was invalidated or set meanwhile, or when another load has begun.',
    params: LoadPath,
    querystring: NoQuery,
    body: Loaded,
    response: answers(stored, 410, ...BODY),
  }
  app.put(`${url}/:load/value`, { schema, bodyLimit: limits.maxAppendBytes }, async (request) => {
    const { key, load } = request.params
    const value = valueIn(request.jsonText)
    return cacheOf(perilune, request).complete(key, load, value, howToKeep(request.body))
  })
}

function keep(app: App, { perilune, limits }: Parts): void {
  const longer = {
    tags,
    summary: 'Extend',
    params: LoadPath,
    querystring: NoQuery,
    body: Extension,
    response: answers(extended, 410, ...BODY),
  }
  app.patch(`${url}/:load`, { schema: longer, bodyLimit: limits.maxOtherBytes }, async (request) => {
    const { key, load } = request.params
    return { load, ...(await cacheOf(perilune, request).extend(key, load, request.body.lease ?? '30s')) }
  })

  const given = {
    tags,
    summary: 'Give up',
    params: LoadPath,
    querystring: Failing,
    response: answers(failed, 410),
  }
  app.delete(`${url}/:load`, { schema: given }, async (request, reply) => {
    const { key, load } = request.params
    await cacheOf(perilune, request).fail(key, load, request.query.reason)
    return reply.code(204).send()
  })
}
