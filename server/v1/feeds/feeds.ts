// The native feed API: routes for a whole feed.

import type { FastifyRequest } from 'fastify'
import type { FeedInspection } from 'perilune'
import { isStoredJson } from '../../json/stored.ts'
import type { Routes } from '../api/routes.ts'
import { cleared, inspection } from '../api/answers.ts'
import { id, subscriber, token } from '../api/arguments.ts'
import { encodeInspection } from './encode.ts'
import { type FeedRoutes, Feeds } from './open.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { appendMessages } from './append.ts'
import { feedClaims } from './claims.ts'
import { feedMessages } from './messages.ts'
import { feedSubscribers } from './subscribers.ts'
import { feedTail } from './tail.ts'

export function v1Feeds(usual: Routes): void {
  const routes = usual.with({ path: { id, subscriber, token } })
  const feeds = new Feeds(routes.perilune)
  wholeFeeds(routes.with({ tag: 'feeds' }), feeds)
  appendMessages(routes.with({ tag: 'messages' }), feeds)
  feedMessages(routes, feeds)
  feedTail(routes.with({ tag: 'messages' }), feeds)
  feedClaims(routes.with({ tag: 'claims' }), feeds)
  feedSubscribers(routes.with({ tag: 'subscribers' }), feeds)
}

function wholeFeeds(routes: FeedRoutes, feeds: Feeds): void {
  routes.get('/feeds/:name', 'Inspect', { answers: inspection, or: [404] }, async (request, reply) => {
    const { name } = request.params
    const picture = await inspect(feeds, request, name)
    if (!picture.exists) throw new RefusedRequest('not-found', `There is no feed ${name}.`)
    return reply.type('application/json').send(encodeInspection(name, picture))
  })

  routes.delete('/feeds/:name', 'Clear', { answers: cleared }, async (request) => {
    await feeds.open(request, request.params.name).clear()
  })
}

/** Two messages of the largest size take too long to be checked at once. */
async function inspect(feeds: Feeds, request: FastifyRequest, name: string): Promise<FeedInspection<Buffer>> {
  const picture = await feeds.openUnchecked(request, name).inspect()
  for (const message of [picture.oldest, picture.newest]) {
    const isKnown = message === null || !('body' in message)
    if (!isKnown && !(await isStoredJson(message.body))) return feeds.openBytes(request, name).inspect()
  }
  return picture
}
