import type { App } from '../../http/fastify.ts'
import type { Limits } from '../settings/limits.ts'
import { badRequest, notFound, unsupportedMediaType } from '../../http/answers/problems.ts'
import { findQueues } from '../queues/search.ts'
import type { Queues } from '../queues/queues.ts'
import { parseObject, textOfBody } from '../requests/body.ts'
import { encodeStats, queuePath } from './encode.ts'
import { readMetadata, withDefaults } from '../requests/metadata.ts'
import { applyPatch, PATCH_TYPE, readPatch } from './metadata-patch.ts'
import { isQueueName, QueuePath } from '../requests/names.ts'
import { countOf, flagOf, nextQuery, queryOf, textOf } from '../../http/requests/query.ts'

export function zaqarQueues(app: App, queues: Queues, limits: Limits): void {
  listQueues(app, queues, limits)
  changeQueues(app, queues, limits)
  purgeQueues(app, queues, limits)

  app.get('/queues/:queue', { schema: { params: QueuePath } }, async ({ tenant, params }) => {
    const metadata = await queues.registry.read({ tenant, queue: params.queue })
    return withDefaults(metadata ?? {}, limits)
  })

  app.get('/queues/:queue/stats', { schema: { params: QueuePath } }, async ({ tenant, params }, reply) => {
    const { queue } = params
    const picture = await queues.feed({ tenant, queue }).inspect()
    return reply.type('application/json').send(encodeStats(queue, picture))
  })
}

const LISTED = ['limit', 'detailed', 'name', 'with_count']

function listQueues(app: App, { registry }: Queues, limits: Limits): void {
  app.get('/queues', async (request) => {
    const query = queryOf(request)
    const { defaultPage, maxQueuesPerPage } = limits
    const limit = countOf(query, 'limit', maxQueuesPerPage) ?? defaultPage
    const [detailed, withCount] = [flagOf(query, 'detailed'), flagOf(query, 'with_count')]
    const marker = textOf(query, 'marker')
    if (marker !== undefined && !isQueueName(marker)) throw badRequest('marker must be the name of a queue.')
    const part = textOf(query, 'name') ?? ''
    const { entries, total, next } = await findQueues(registry, request.tenant, { limit, marker, part })
    return {
      queues: entries.map(({ name, document }) => ({
        name,
        href: queuePath(name),
        ...(detailed ? { metadata: withDefaults(document, limits) } : {}),
      })),
      links: next === null ? [] : [{ rel: 'next', href: `/v2/queues?${nextQuery(query, LISTED, next)}` }],
      ...(withCount ? { count: total } : {}),
    }
  })
}

function changeQueues(app: App, queues: Queues, limits: Limits): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxQueueMetadata }

  app.put('/queues/:queue', options, async ({ tenant, params, body }, reply) => {
    const { queue } = params
    const metadata = readMetadata(textOfBody(body), limits)
    const created = await queues.registry.register({ tenant, queue }, metadata)
    return reply
      .code(created ? 201 : 204)
      .header('Location', queuePath(queue))
      .send()
  })

  app.patch('/queues/:queue', options, async ({ tenant, params, headers, body }) => {
    const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== PATCH_TYPE) throw unsupportedMediaType(PATCH_TYPE)
    const { queue } = params
    const patch = readPatch(textOfBody(body), limits)
    const change = queues.registry.change({ tenant, queue }, (metadata) =>
      applyPatch(metadata, patch, limits),
    )
    const metadata = await change
    if (metadata === null) throw notFound(`There is no queue ${queue}.`)
    return withDefaults(metadata, limits)
  })

  app.delete('/queues/:queue', options, async ({ tenant, params }, reply) => {
    await queues.delete({ tenant, queue: params.queue })
    return reply.code(204).send()
  })
}

function purgeQueues(app: App, queues: Queues, limits: Limits): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxOtherBody }
  app.post('/queues/:queue/purge', options, async ({ tenant, params, body }, reply) => {
    await queues.purge({ tenant, queue: params.queue }, readPurge(textOfBody(body)))
    return reply.code(204).send()
  })
}

interface Purge {
  readonly messages: boolean
  readonly subscriptions: boolean
}

const TYPES = new Set<unknown>(['messages', 'subscriptions'])

/** Without a body: everything. Throws a Problem. */
function readPurge(text: string): Purge {
  if (text === '') return { messages: true, subscriptions: true }
  const { resource_types: types } = parseObject(text)
  if (!Array.isArray(types) || !types.every((type) => TYPES.has(type))) {
    throw badRequest('resource_types must be a list of messages, subscriptions or both.')
  }
  return { messages: types.includes('messages'), subscriptions: types.includes('subscriptions') }
}
