// Reading and removing messages of a feed, and of its dead letters, which are a feed as well.

import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Feed, InvalidArgumentError, type Page, type ReadOptions } from 'perilune'
import { untilLeft } from '../../http/requests/left.ts'
import { PAGE_BOUNDS } from '../../http/answers/page-bounds.ts'
import { message, page, removed } from '../api/answers.ts'
import { after, echo, flag, includeClaimed, limit, origin, wait } from '../api/arguments.ts'
import { encodeFound, encodePage } from './encode.ts'
import type { FeedRoutes, Feeds } from './open.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import type { Waits } from '../api/waits.ts'

const strict = { additionalProperties: false }

const Reading = Type.Object(
  {
    after,
    limit: limit(20),
    wait,
    origin,
    echo,
    includeClaimed,
    includeDelayed: flag('true shows delayed messages after the last visible one.'),
  },
  strict,
)
const Removing = Type.Object(
  { evenClaimed: flag('true also removes a message that a live claim holds.') },
  strict,
)

type Opened = (request: FastifyRequest, name: string, options?: { origin: string }) => Feed<Buffer>

export function feedMessages(routes: FeedRoutes, feeds: Feeds): void {
  messagesAt(routes.with({ tag: 'messages' }), '/feeds/:name', (...names) => feeds.openBytes(...names))
  messagesAt(
    routes.with({ tag: 'dead letters' }),
    '/feeds/:name/dead-letters',
    (...names) => feeds.openBytes(...names).deadLetters,
  )
}

type FeedUrl = '/feeds/:name' | '/feeds/:name/dead-letters'

function messagesAt(routes: FeedRoutes, at: FeedUrl, open: Opened): void {
  readPages(routes, `${at}/messages`, open)
  singleMessages(routes, `${at}/messages/:id`, open)
}

function readPages(routes: FeedRoutes, url: `${FeedUrl}/messages`, open: Opened): void {
  routes.get(url, 'Read a page', { query: Reading, answers: page }, async (request, reply) => {
    const { origin: reader, wait: patience, ...options } = request.query
    checkEcho(options.echo, reader)
    const feed = open(request, request.params.name, ...(reader === undefined ? [] : [{ origin: reader }]))
    const found = await readWaiting(feed, options, patience, { waits: routes.waits, reply })
    return reply.type('application/json').send(encodePage(found))
  })
}

function singleMessages(routes: FeedRoutes, url: `${FeedUrl}/messages/:id`, open: Opened): void {
  routes.get(url, 'Look one up', { answers: message, or: [404] }, async (request, reply) => {
    const { name, id } = request.params
    const { messages, undecodable } = await open(request, name).get([id])
    const [only] = [...messages, ...undecodable]
    if (only === undefined) throw noMessage(id)
    return reply.type('application/json').send(encodeFound(only))
  })

  routes.delete(url, 'Remove one', { query: Removing, answers: removed, or: [404, 409] }, async (request) => {
    const { name, id } = request.params
    const { count, held } = await open(request, name).remove([id], request.query)
    if (held.length > 0) throw new RefusedRequest('refused', 'A live claim holds this message.', 'held')
    if (count === 0) throw noMessage(id)
  })
}

/** Reads a page, and waits for one only if there is nothing. Ending it early has no effect on the feed. */
export async function readWaiting<Body>(
  feed: Feed<Body>,
  options: ReadOptions,
  patience: ReadOptions['wait'] | undefined,
  { waits, reply }: { waits: Waits; reply: FastifyReply },
): Promise<Page<Body>> {
  const bounded = { ...options, ...PAGE_BOUNDS }
  const now = await feed.read({ ...bounded, signal: untilLeft(reply) })
  if (patience === undefined || now.messages.length > 0 || now.gap || now.reset || now.more) return now
  const later = await waits.during(reply, (signal) =>
    feed.read({ ...bounded, after: now.next, wait: patience, signal }),
  )
  return later ?? now
}

/** Hiding one's own messages requires the reader's name. */
export function checkEcho(shown: boolean | undefined, reader: string | undefined): void {
  if (shown === false && reader === undefined) {
    throw new InvalidArgumentError('origin', 'must name the reader whose messages echo=false hides')
  }
}

function noMessage(id: string): RefusedRequest {
  return new RefusedRequest('not-found', `There is no message ${id}.`)
}
