// Reading and removing messages: of a feed, and of its dead letters, which are a feed as well.

import { Type } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Feed, InvalidArgumentError, type Page, type ReadOptions } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { untilLeft } from '../../http/requests/left.ts'
import { PAGE_BOUNDS } from '../../http/answers/page-bounds.ts'
import { answers, message, page, removed } from '../api/answers.ts'
import {
  after,
  echo,
  FeedPath,
  flag,
  includeClaimed,
  limit,
  MessagePath,
  origin,
  wait,
} from '../api/arguments.ts'
import { encodeFound, encodePage } from './encode.ts'
import type { Feeds } from './open.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'
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
    includeDelayed: flag('true shows, behind the last visible message, those that are delayed.'),
  },
  strict,
)
const Removing = Type.Object({ evenClaimed: flag('true removes it under a live claim too.') }, strict)

type Opened = (request: FastifyRequest, name: string, options?: { origin: string }) => Feed<Buffer>

export function feedMessages(app: App, feeds: Feeds, waits: Waits): void {
  messagesAt(app, '/feeds/:name', {
    tag: 'messages',
    openBytes: (...names) => feeds.openBytes(...names),
    waits,
  })
  messagesAt(app, '/feeds/:name/dead-letters', {
    tag: 'dead letters',
    openBytes: (...names) => feeds.openBytes(...names).deadLetters,
    waits,
  })
}

interface Parts {
  readonly tag: string
  readonly openBytes: Opened
  readonly waits: Waits
}

function messagesAt(app: App, at: string, parts: Parts): void {
  readPages(app, `${at}/messages`, parts)
  singleMessages(app, `${at}/messages/:id`, parts)
}

function readPages(app: App, url: string, { tag, openBytes, waits }: Parts): void {
  const schema = {
    tags: [tag],
    summary: 'Read a page',
    params: FeedPath,
    querystring: Reading,
    response: answers(page),
  }
  app.get(url, { schema }, async (request, reply) => {
    const { origin: reader, wait: patience, ...options } = request.query
    checkEcho(options.echo, reader)
    const feed = openBytes(
      request,
      request.params.name,
      ...(reader === undefined ? [] : [{ origin: reader }]),
    )
    const found = await readWaiting(feed, options, patience, { waits, reply })
    return reply.type('application/json').send(encodePage(found))
  })
}

function singleMessages(app: App, url: string, { tag, openBytes }: Parts): void {
  const tags = [tag]
  const found = { tags, summary: 'Look one up', params: MessagePath, response: answers(message, 404) }
  app.get(url, { schema: found }, async (request, reply) => {
    const { name, id } = request.params
    const { messages, undecodable } = await openBytes(request, name).get([id])
    const [only] = [...messages, ...undecodable]
    if (only === undefined) throw noMessage(id)
    return reply.type('application/json').send(encodeFound(only))
  })

  const gone = {
    tags,
    summary: 'Remove one',
    params: MessagePath,
    querystring: Removing,
    response: answers(removed, 404, 409),
  }
  app.delete(url, { schema: gone }, async (request, reply) => {
    const { name, id } = request.params
    const { count, held } = await openBytes(request, name).remove([id], request.query)
    if (held.length > 0) throw new Refusal('refused', 'A live claim holds this message.', 'held')
    if (count === 0) throw noMessage(id)
    return reply.code(204).send()
  })
}

/** Reads a page, and waits for one only when there is nothing. Ended early it has still moved nothing. */
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

/** Hiding one's own messages needs to know whose they are. */
export function checkEcho(shown: boolean | undefined, reader: string | undefined): void {
  if (shown === false && reader === undefined) {
    throw new InvalidArgumentError('origin', 'must say whose messages echo=false hides')
  }
}

function noMessage(id: string): Refusal {
  return new Refusal('not-found', `There is no message ${id}.`)
}
