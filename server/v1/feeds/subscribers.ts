import { Type } from '@fastify/type-provider-typebox'
import { committed, forgotten, page, subscribed } from '../api/answers.ts'
import { echo, flag, includeClaimed, limit, origin, wait } from '../api/arguments.ts'
import { encodePage } from './encode.ts'
import type { FeedRoutes, Feeds } from './open.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { checkEcho, readWaiting } from './messages.ts'
import type { Feed, SubscriberOptions } from 'perilune'

const strict = { additionalProperties: false }
const url = '/feeds/:name/subscribers/:subscriber'

const Beginning = Type.Object(
  {
    from: Type.Optional(
      Type.String({
        description: 'Where a new subscriber begins: a cursor, or `end`; default: the oldest message.',
      }),
    ),
    protect: flag('true keeps retention from removing messages that it has not passed.'),
  },
  strict,
)
const Step = Type.Object(
  {
    cursor: Type.String({ description: 'All messages up to it are processed.' }),
    rewind: flag('true lets it move back.'),
  },
  strict,
)
const Reading = Type.Object({ limit: limit(20), wait, origin, echo, includeClaimed }, strict)

export function feedSubscribers(routes: FeedRoutes, feeds: Feeds): void {
  changeSubscribers(routes, feeds)
  readForSubscribers(routes, feeds)
}

function changeSubscribers(routes: FeedRoutes, feeds: Feeds): void {
  routes.put(url, 'Make', { body: Beginning, answers: subscribed }, async (request, reply) => {
    const { name, subscriber } = request.params
    const { cursor, created } = await makeSubscriber(feeds.open(request, name), subscriber, request.body)
    return reply.code(created ? 201 : 200).send({ name: subscriber, cursor })
  })

  routes.patch(url, 'Commit', { body: Step, answers: committed, or: [404] }, async (request) => {
    const { name, subscriber } = request.params
    const { cursor: to, ...options } = request.body
    const cursor = await feeds.open(request, name).subscriber(subscriber).commit(to, options)
    if (cursor === null) {
      throw new RefusedRequest(
        'not-found',
        `There is no subscriber ${subscriber}, or the cursor is of an earlier feed.`,
      )
    }
    return { name: subscriber, cursor }
  })

  routes.delete(url, 'Forget', { answers: forgotten, or: [404] }, async (request) => {
    const { name, subscriber } = request.params
    const was = await feeds.open(request, name).subscriber(subscriber).forget()
    if (!was) throw noSubscriber(subscriber)
  })
}

function readForSubscribers(routes: FeedRoutes, feeds: Feeds): void {
  routes.get(
    `${url}/messages`,
    'Read a page after its cursor',
    {
      query: Reading,
      description: 'Reading moves nothing: advance to the cursor of the last processed message.',
      answers: page,
      or: [404],
    },
    async (request, reply) => {
      const { name, subscriber } = request.params
      const { origin: reader, wait: patience, ...options } = request.query
      checkEcho(options.echo, reader)
      const feed = feeds.openBytes(request, name, reader === undefined ? {} : { origin: reader })
      const cursor = await findSubscriber(feed, subscriber)
      if (cursor === null) throw noSubscriber(subscriber)
      const found = await readWaiting(feed, { ...options, after: cursor }, patience, {
        waits: routes.waits,
        reply,
      })
      return reply.type('application/json').send(encodePage(found))
    },
  )
}

function noSubscriber(name: string): RefusedRequest {
  return new RefusedRequest('not-found', `There is no subscriber ${name}.`)
}

export interface Made {
  readonly cursor: string
  readonly created: boolean
}

/** The stored cursor, or null if the subscriber does not exist. */
async function findSubscriber(feed: Feed<unknown>, name: string): Promise<string | null> {
  const { next } = await feed.read({ after: 'end', limit: 1 })
  const [life = '0'] = next.split('-')
  // A subscriber only moves forward, so the start of this life of the feed never moves it.
  return feed.subscriber(name).commit(`${life}-0`)
}

async function makeSubscriber(feed: Feed<string>, name: string, options: SubscriberOptions): Promise<Made> {
  const subscriber = feed.subscriber(name, options)
  const known = await findSubscriber(feed, name)
  return { cursor: await subscriber.cursor(), created: known === null }
}
