// The native feed API, and the feed as a whole.

import type { Perilune } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, cleared, inspection } from '../api/answers.ts'
import { FeedPath } from '../api/arguments.ts'
import { encodeInspection } from './encode.ts'
import { Feeds } from './open.ts'
import type { FeedLimits } from '../api/limits.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'
import type { Waits } from '../api/waits.ts'
import { appendMessages } from './append.ts'
import { feedClaims } from './claims.ts'
import { feedMessages } from './messages.ts'
import { feedSubscribers } from './subscribers.ts'
import { feedTail } from './tail.ts'

export function v1Feeds(app: App, perilune: Perilune, waits: Waits, limits: FeedLimits): void {
  const feeds = new Feeds(perilune)
  wholeFeeds(app, feeds)
  appendMessages(app, feeds, limits)
  feedMessages(app, feeds, waits)
  feedTail(app, feeds, waits, limits)
  feedClaims(app, feeds, waits, limits)
  feedSubscribers(app, feeds, waits, limits)
}

function wholeFeeds(app: App, feeds: Feeds): void {
  const tags = ['feeds']

  app.get(
    '/feeds/:name',
    { schema: { tags, summary: 'Inspect', params: FeedPath, response: answers(inspection, 404) } },
    async (request, reply) => {
      const { name } = request.params
      const picture = await feeds.openBytes(request, name).inspect()
      if (!picture.exists) throw new Refusal('not-found', `There is no feed ${name}.`)
      return reply.type('application/json').send(encodeInspection(name, picture))
    },
  )

  app.delete(
    '/feeds/:name',
    { schema: { tags, summary: 'Clear', params: FeedPath, response: answers(cleared) } },
    async (request, reply) => {
      await feeds.open(request, request.params.name).clear()
      return reply.code(204).send()
    },
  )
}
