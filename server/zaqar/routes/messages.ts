import type { Feed, Page, ReadOptions } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { untilLeft } from '../../http/requests/left.ts'
import { PAGE_BOUNDS } from '../../http/answers/page-bounds.ts'
import type { Limits } from '../settings/limits.ts'
import { badRequest, forbidden, notFound } from '../../http/answers/problems.ts'
import type { Queues } from '../queues/queues.ts'
import { textOfBody } from '../requests/body.ts'
import { encodeMessage, encodeMessages, encodePage, encodeTaken, messagePath, queuePath } from './encode.ts'
import { termsOf } from '../requests/metadata.ts'
import { checkIds, checkMarker, MessagePath, QueuePath, tokenOf } from '../requests/names.ts'
import { readPosts } from './posts.ts'
import { countOf, flagOf, listOf, nextQuery, type Query, queryOf, textOf } from '../../http/requests/query.ts'

export function zaqarMessages(app: App, queues: Queues, limits: Limits): void {
  postMessages(app, queues, limits)
  readMessages(app, queues, limits)
  removeMessages(app, queues, limits)
}

function postMessages(app: App, queues: Queues, limits: Limits): void {
  const options = { schema: { params: QueuePath }, bodyLimit: limits.maxMessagesPostSize }
  app.post('/queues/:queue/messages', options, async (request, reply) => {
    const { tenant, params, body } = request
    const { queue } = params
    const place = { tenant, queue }
    const text = textOfBody(body)
    const metadata = await queues.registry.recall(place)
    await app.bodyTurns.again(request)
    const terms = termsOf(metadata ?? {}, limits)
    if (Buffer.isBuffer(body) && body.length > terms.postSize) {
      throw badRequest(`The body must be at most ${terms.postSize} bytes.`)
    }
    const appended = await queues.post(place, readPosts(text, terms, limits), metadata !== null)
    const ids = appended.map(({ id }) => id)
    const named = ids.length <= limits.maxLocationIds ? `?ids=${ids.join(',')}` : ''
    return reply
      .code(201)
      .header('Location', `${queuePath(queue)}/messages${named}`)
      .send({ resources: ids.map((id) => messagePath(queue, id)) })
  })
}

function readMessages(app: App, queues: Queues, limits: Limits): void {
  app.get('/queues/:queue/messages', { schema: { params: QueuePath } }, async (request, reply) => {
    const { tenant, params } = request
    const { queue } = params
    const query = queryOf(request)
    const feed = queues.feed({ tenant, queue })
    const ids = listOf(query, 'ids')
    reply.type('application/json')
    if (ids !== undefined) {
      const { messages } = await feed.get(checkIds(ids, limits))
      if (messages.length === 0) throw notFound('None of these messages exists.')
      return reply.send(encodeMessages(queue, messages))
    }
    const pages = queues.feedBytes({ tenant, queue })
    const page = await readPage(pages, { ...readOptions(query, limits), signal: untilLeft(reply) })
    if (page.reset) reply.header('Perilune-Lost-Before', 'reset')
    return reply.send(encodePage(queue, page.messages, nextOf(queue, query, page)))
  })

  app.get('/queues/:queue/messages/:message', { schema: { params: MessagePath } }, async (request, reply) => {
    const { queue, message: id } = request.params
    const { messages } = await queues.feed({ tenant: request.tenant, queue }).get([id])
    const [message] = messages
    if (message === undefined) throw notFound(`There is no message ${id}.`)
    return reply.type('application/json').send(encodeMessage(queue, message))
  })
}

/** A reader at the end stays there, by its link; one that met only hidden messages continues. */
function nextOf(queue: string, query: Query, { messages, more, next }: Page<unknown>): string | null {
  if (messages.length === 0 && !more) return null
  return `${queuePath(queue)}/messages?${nextQuery(query, SHOWN, next)}`
}

const SHOWN = ['limit', 'echo', 'include_claimed', 'include_delayed']

function readOptions(query: Query, { defaultPage, maxMessagesPerPage }: Limits): ReadOptions {
  const marker = textOf(query, 'marker')
  return {
    limit: countOf(query, 'limit', maxMessagesPerPage) ?? defaultPage,
    echo: flagOf(query, 'echo'),
    includeClaimed: flagOf(query, 'include_claimed'),
    includeDelayed: flagOf(query, 'include_delayed'),
    ...(marker === undefined ? {} : { after: checkMarker(marker) }),
  }
}

/** A page with only a report of lost messages is joined with the first messages that are left. */
async function readPage(feed: Feed<Buffer>, options: ReadOptions): Promise<Page<Buffer>> {
  const page = await feed.read({ ...options, ...PAGE_BOUNDS })
  if (page.messages.length > 0 || !page.more || !(page.gap || page.reset)) return page
  const later = await feed.read({ ...options, ...PAGE_BOUNDS, after: page.next })
  return { ...later, reset: page.reset || later.reset }
}

function removeMessages(app: App, queues: Queues, limits: Limits): void {
  app.delete('/queues/:queue/messages', { schema: { params: QueuePath } }, async (request, reply) => {
    const query = queryOf(request)
    const feed = queues.feed({ tenant: request.tenant, queue: request.params.queue })
    const ids = listOf(query, 'ids')
    const pop = countOf(query, 'pop', limits.maxMessagesPerClaimOrPop)
    if ((ids === undefined) === (pop === undefined)) throw badRequest('Either ids or pop must be given.')
    if (pop !== undefined) {
      return reply
        .type('application/json')
        .send(encodeTaken(await feed.pop({ limit: pop, signal: untilLeft(reply) })))
    }
    await feed.remove(checkIds(ids ?? [], limits), { evenClaimed: true })
    return reply.code(204).send()
  })

  app.delete(
    '/queues/:queue/messages/:message',
    { schema: { params: MessagePath } },
    async (request, reply) => {
      const { queue, message: id } = request.params
      const feed = queues.feed({ tenant: request.tenant, queue })
      const claimId = textOf(queryOf(request), 'claim_id')
      await (claimId === undefined ? removeFree(feed, id) : removeClaimed(feed, id, claimId))
      return reply.code(204).send()
    },
  )
}

async function removeFree(feed: Feed<string>, id: string): Promise<void> {
  const { held } = await feed.remove([id])
  if (held.length > 0) throw forbidden('A claim holds this message: name it with claim_id.')
}

async function removeClaimed(feed: Feed<string>, id: string, claimId: string): Promise<void> {
  const token = tokenOf(claimId)
  if (token === null) throw badRequest('claim_id must come from a claim.')
  const refusal = await ackClaimed(feed, id, token)
  if (refusal === 'held') throw forbidden('Another claim holds this message.')
  if (refusal === 'unclaimed') throw badRequest('No claim holds this message.')
  if (refusal === 'lost') await refuseUnlessGone(feed, id)
}

async function ackClaimed(feed: Feed<string>, id: string, token: number): Promise<string | undefined> {
  const [settled] = await feed.byToken.ack([{ token, ids: [id] }])
  return settled?.outcome === 'acked' ? settled.refused[0]?.reason : settled?.outcome
}

/** A claim ends with its last message, so deleting that one again must not be an error. */
async function refuseUnlessGone(feed: Feed<string>, id: string): Promise<void> {
  const { messages, undecodable } = await feed.get([id])
  if (messages.length + undecodable.length > 0) throw badRequest('This claim has ended, or never existed.')
}
