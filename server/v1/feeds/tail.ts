import { Type } from '@fastify/type-provider-typebox'
import { PAGE_BOUNDS } from '../../http/answers/page-bounds.ts'
import { AnswerPieces } from '../../http/answers/pieces.ts'
import { stream } from '../api/answers.ts'
import { after, echo, includeClaimed, origin } from '../api/arguments.ts'
import { eventStream, orNull } from './event-stream.ts'
import type { FeedRoutes, Feeds } from './open.ts'
import { headerOf } from '../../http/requests/headers.ts'
import { checkEcho } from './messages.ts'

const PAGE = 100

const Query = Type.Object({ after, origin, echo, includeClaimed }, { additionalProperties: false })
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

export function feedTail(routes: FeedRoutes, feeds: Feeds): void {
  routes.get(
    '/feeds/:name/tail',
    'Follow as server-sent events',
    {
      query: Query,
      description:
        'The id of an event is a cursor. `message` carries a message, `undecodable` one whose body is not JSON; `gap` and `reset` report what is missing before the next one.',
      described: {
        'Last-Event-ID': 'The id of the last event that was seen; takes precedence over `after`.',
      },
      answers: stream,
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { origin: reader, ...query } = request.query
      checkEcho(query.echo, reader)
      const feed = feeds.open(request, request.params.name, reader === undefined ? {} : { origin: reader })
      const last = headerOf(request, 'Last-Event-ID')
      const options = {
        ...query,
        ...(last === undefined ? {} : { after: last }),
        limit: PAGE,
        maxBytes: PAGE_BOUNDS.maxBytes,
      }
      const signal = routes.waits.begin(reply)
      // Read before the answer begins, so that an invalid cursor is a 400. An outage is not a 503: an EventSource would not
      // reconnect after it.
      const first = await orNull(feed.read(options))
      const events = eventStream(feed, first, { options, signal, heartbeat: routes.limits.heartbeat })
      return reply.headers(HEADERS).send(AnswerPieces.ofTexts(events))
    },
  )
}
