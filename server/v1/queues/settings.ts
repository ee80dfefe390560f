// What holds for a whole queue and for its groups.

import { type TOptional, type TUnsafe, Type } from '@fastify/type-provider-typebox'
import type { QueueSettings, Throttle } from 'perilune'
import type { App } from '../../http/fastify.ts'
import { answers, BODY } from '../api/answers.ts'
import { name } from '../api/arguments.ts'
import { NamePath, strict } from '../api/strictness.ts'
import type { Parts } from '../api/lending.ts'
import { group as picture, set } from './answers.ts'
import { DURATION, QueueQuery } from './arguments.ts'
import type { Open } from './open.ts'

const tags = ['queues']
const COUNT = { type: 'integer', minimum: 1 }

/** A setting that null takes away. The library looks at its members. */
function setting<Value>(schema: object, description: string): TOptional<TUnsafe<Value>> {
  return Type.Optional(Type.Unsafe<Value>({ ...schema, description }))
}

const throttle = {
  concurrency: setting<NonNullable<Throttle['concurrency']> | null>(
    { type: ['integer', 'null'], minimum: 1, maximum: 1_000_000 },
    'Jobs claimed at once; null: any number.',
  ),
  rate: setting<NonNullable<Throttle['rate']> | null>(
    {
      type: ['object', 'null'],
      properties: { limit: COUNT, window: DURATION, burst: COUNT },
      required: ['limit', 'window'],
      additionalProperties: false,
    },
    'Jobs claimed in a window, and at once if they were saved up (default: as many); null: any number.',
  ),
}
const keep = setting<NonNullable<QueueSettings['keep']> | null>(
  {
    type: ['object', 'null'],
    properties: { count: COUNT, age: DURATION },
    additionalProperties: false,
  },
  'Jobs that are done and stay to be looked at; null: none.',
)
const QueueSet = Type.Object({ ...throttle, keep }, strict)
const GroupSet = Type.Object(throttle, strict)
const GroupPath = Type.Object({
  name,
  group: Type.String({ minLength: 1, description: 'A group of jobs.' }),
})

export function queueSettings(app: App, parts: Parts, open: Open): void {
  wholeQueue(app, parts, open)
  groups(app, parts, open)
}

function wholeQueue(app: App, { limits }: Parts, open: Open): void {
  const url = '/queues/:name'
  const common = { tags, params: NamePath, querystring: QueueQuery }
  const config = { beginsQueue: true }

  const changed = {
    ...common,
    summary: 'Set',
    description: 'What is named; the rest stays as it is.',
    body: QueueSet,
    response: answers(set, ...BODY),
  }
  const options = { schema: changed, bodyLimit: limits.maxOtherBytes, config }
  app.patch(`${url}/settings`, options, async (request, reply) => {
    await open(request).settings.set(request.body)
    return reply.code(204).send()
  })

  const paused = { ...common, summary: 'Pause', response: answers(set) }
  app.post(`${url}/pause`, { schema: paused, config }, async (request, reply) => {
    await open(request).settings.pause()
    return reply.code(204).send()
  })

  const resumed = { ...common, summary: 'Resume', response: answers(set) }
  app.post(`${url}/resume`, { schema: resumed, config }, async (request, reply) => {
    await open(request).settings.resume()
    return reply.code(204).send()
  })
}

function groups(app: App, { limits }: Parts, open: Open): void {
  const url = '/queues/:name/groups/:group'
  const common = { tags, params: GroupPath, querystring: QueueQuery }
  const config = { beginsQueue: true }

  const changed = {
    ...common,
    summary: 'Set for a group',
    description: 'What is named; the rest stays as it is.',
    body: GroupSet,
    response: answers(picture, ...BODY),
  }
  app.patch(url, { schema: changed, bodyLimit: limits.maxOtherBytes, config }, async (request) =>
    open(request).settings.setGroup(request.params.group, request.body),
  )

  const paused = { ...common, summary: 'Pause a group', response: answers(picture) }
  app.post(`${url}/pause`, { schema: paused, config }, async (request) =>
    open(request).settings.pauseGroup(request.params.group),
  )

  const resumed = { ...common, summary: 'Resume a group', response: answers(picture) }
  app.post(`${url}/resume`, { schema: resumed, config }, async (request) =>
    open(request).settings.resumeGroup(request.params.group),
  )
}
