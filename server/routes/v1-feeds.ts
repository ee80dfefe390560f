// The native feed API, and the feed as a whole.

import type { Perilune } from 'perilune'
import type { App } from '../fastify.ts'
import { answers, cleared, inspection } from '../v1/answers.ts'
import { FeedPath } from '../v1/arguments.ts'
import { encodeInspection } from '../v1/encode.ts'
import { Feeds } from '../v1/feeds.ts'
import type { FeedLimits } from '../v1/limits.ts'
import { Refusal } from '../v1/problem-documents.ts'
import type { Waits } from '../v1/waits.ts'
import { appendMessages } from './v1-feeds-append.ts'
import { feedClaims } from './v1-feeds-claims.ts'
import { feedMessages } from './v1-feeds-messages.ts'
import { feedSubscribers } from './v1-feeds-subscribers.ts'
import { feedTail } from './v1-feeds-tail.ts'

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
