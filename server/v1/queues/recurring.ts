// Jobs that are spawned repeatedly, at times of their own.

import { Type } from '@fastify/type-provider-typebox'
import type { RecurringOptions } from 'perilune'
import { duration, limit, strict } from '../api/arguments.ts'
import { RefusedRequest } from '../../http/answers/problem-documents.ts'
import { recurring, recurringPage, recurringRemoved, recurringSet } from './answers.ts'
import { jobOptions, spread, text, unique, type QueueRoutes } from './arguments.ts'
import { encodeRecurring, encodeRecurringPage } from './encode.ts'
import type { QueueOf } from './open.ts'
import { payloadIn } from './to-the-letter.ts'

const path = { id: Type.String({ minLength: 1, description: 'The name of the recurring job.' }) }
const Paging = Type.Object(
  { after: text('The `next` of the page before.'), limit: limit(50), ...spread },
  strict,
)

const missed = Type.Optional(
  Type.Unsafe<'skip' | 'one' | { upTo: number }>({
    type: ['object', 'string'],
    properties: { upTo: { type: 'integer', minimum: 1, maximum: 1000 } },
    required: ['upTo'],
    additionalProperties: false,
    description:
      'Runs that are due while a later one is due, too: `skip`, `one` (default: only the latest is made up for) or `{ upTo }`.',
  }),
)
const Definition = Type.Object(
  {
    every: duration('The interval, from 1970 in UTC; this or `cron`.'),
    offset: duration('The offset of each run; shorter than `every`.'),
    cron: text('An expression of five fields, or of six with seconds first.'),
    timeZone: text('The time zone of the expression, such as `Europe/Berlin`; default `UTC`.'),
    missed,
    limit: Type.Optional(Type.Integer({ minimum: 1, description: 'The total number of jobs to spawn.' })),
    until: Type.Optional(
      Type.Integer({ minimum: 1, description: 'The time of the last possible run; Unix milliseconds.' }),
    ),
    name: Type.String({ description: 'The kind of job.' }),
    payload: Type.Unknown({ description: 'Any JSON; stored unchanged.' }),
    ...jobOptions,
    unique,
  },
  strict,
)

export function recurringJobs(usual: QueueRoutes, open: QueueOf): void {
  const routes = usual.with({ path })
  changeRecurring(routes, open)
  readRecurring(routes, open)
}

function changeRecurring(routes: QueueRoutes, open: QueueOf): void {
  const url = '/queues/:name/recurring/:id'

  routes.put(
    url,
    'Set a recurring job',
    {
      description: 'Repeating the request changes nothing; another definition replaces it from now on.',
      body: Definition,
      answers: recurringSet,
      large: true,
      documents: ['payload'],
      config: { beginsQueue: true },
    },
    async (request) => {
      const { id } = request.params
      // The library checks that it is only one of both kinds.
      const definition = {
        ...request.body,
        payload: payloadIn(request.jsonText),
      } as unknown as RecurringOptions<Record<string, unknown>, string>
      return { id, ...(await open(request).recurring.set(id, definition)) }
    },
  )

  routes.delete(url, 'Remove a recurring job', { answers: recurringRemoved }, async (request) => {
    await open(request).recurring.remove(request.params.id)
  })
}

function readRecurring(routes: QueueRoutes, open: QueueOf): void {
  const url = '/queues/:name/recurring'
  routes.get(
    `${url}/:id`,
    'Look a recurring job up',
    { answers: recurring, or: [404] },
    async (request, reply) => {
      const { id } = request.params
      const only = await open(request).recurring.get(id)
      if (only === null) throw new RefusedRequest('not-found', `There is no recurring job ${id}.`)
      return reply.type('application/json').send(encodeRecurring(only))
    },
  )

  routes.get(
    url,
    'List recurring jobs',
    { query: Paging, description: 'By their next run.', answers: recurringPage },
    async (request, reply) => {
      const { partitions: _, ...paging } = request.query
      const page = await open(request).recurring.list(paging)
      return reply.type('application/json').send(encodeRecurringPage(page))
    },
  )
}
