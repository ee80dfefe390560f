// The native feed API, and the feed as a whole.

import type { Routes } from '../api/routes.ts'
import { cleared, inspection } from '../api/answers.ts'
import { FeedPath } from '../api/arguments.ts'
import { encodeInspection } from './encode.ts'
import { Feeds } from './open.ts'
import { Refusal } from '../../http/answers/problem-documents.ts'
import { appendMessages } from './append.ts'
import { feedClaims } from './claims.ts'
import { feedMessages } from './messages.ts'
import { feedSubscribers } from './subscribers.ts'
import { feedTail } from './tail.ts'

export function v1Feeds(routes: Routes): void {
  const feeds = new Feeds(routes.perilune)
  wholeFeeds(routes.tagged('feeds'), feeds)
  appendMessages(routes.tagged('messages'), feeds)
  feedMessages(routes, feeds)
  feedTail(routes.tagged('messages'), feeds)
  feedClaims(routes.tagged('claims'), feeds)
  feedSubscribers(routes.tagged('subscribers'), feeds)
}

function wholeFeeds(routes: Routes, feeds: Feeds): void {
  routes.get(
    '/feeds/:name',
    { summary: 'Inspect', params: FeedPath, answers: inspection, problems: [404], query: null },
    async (request, reply) => {
      const { name } = request.params
      const picture = await feeds.openBytes(request, name).inspect()
      if (!picture.exists) throw new Refusal('not-found', `There is no feed ${name}.`)
      return reply.type('application/json').send(encodeInspection(name, picture))
    },
  )

  routes.delete(
    '/feeds/:name',
    { summary: 'Clear', params: FeedPath, answers: cleared, query: null },
    async (request) => {
      await feeds.open(request, request.params.name).clear()
    },
  )
}
