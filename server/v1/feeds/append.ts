import { Type } from '@fastify/type-provider-typebox'
import type { FeedOptions, Retention } from 'perilune'
import { appended } from '../api/answers.ts'
import { duration, origin } from '../api/arguments.ts'
import type { FeedRoutes, Feeds } from './open.ts'
import { headerOf } from '../../http/requests/headers.ts'
import { newMessages } from './new-messages.ts'

const strict = { additionalProperties: false }
const amount = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }))

const NewMessage = Type.Object(
  {
    body: Type.Unknown({ description: 'Any JSON; stored unchanged.' }),
    ttl: duration('How long the message lives; default: until it is removed.'),
    delay: duration('How long it stays invisible.'),
    idempotencyKey: Type.Optional(
      Type.String({
        description: 'Another append with the same key within `idempotencyTtl` appends nothing.',
      }),
    ),
  },
  strict,
)
const Body = Type.Union([
  Type.Object({ messages: Type.Array(NewMessage, { minItems: 1, maxItems: 1000 }) }, strict),
  NewMessage,
])
const Query = Type.Object(
  {
    origin,
    idempotencyTtl: duration('How long idempotency keys are remembered; default 1h.'),
    retentionCount: amount('Maximum number of messages; the oldest ones beyond it are removed.'),
    retentionAge: duration('Maximum age of messages; older ones are removed.'),
    retentionBytes: amount('Maximum bytes of bodies; the oldest messages beyond it are removed.'),
  },
  strict,
)

export function appendMessages(routes: FeedRoutes, feeds: Feeds): void {
  routes.post(
    '/feeds/:name/messages',
    'Append',
    {
      query: Query,
      description: 'All or nothing; the messages of one request are adjacent.',
      described: { 'Idempotency-Key': 'For a request with one message: its idempotencyKey.' },
      body: Body,
      answers: appended,
      large: true,
      documents: ['body'],
    },
    async (request, reply) => {
      const { retentionCount, retentionAge, retentionBytes, ...options } = request.query
      const feed = feeds.open(request, request.params.name, {
        ...options,
        retention: retentionOf({ count: retentionCount, age: retentionAge, bytes: retentionBytes }),
      })
      const key = headerOf(request, 'Idempotency-Key')
      const results = await feed.appendMany(newMessages(request.body, request.jsonText, key))
      const messages = results.map(({ id, cursor, duplicate }) => ({ id, cursor, duplicate }))
      return reply.code(messages.every(({ duplicate }) => duplicate) ? 200 : 201).send({ messages })
    },
  )
}

type Given<Options> = { [Name in keyof Options]: Options[Name] | undefined }

function retentionOf({ count, age, bytes }: Given<Retention>): NonNullable<FeedOptions<string>['retention']> {
  return {
    ...(count === undefined ? {} : { count }),
    ...(age === undefined ? {} : { age }),
    ...(bytes === undefined ? {} : { bytes }),
  }
}
