// The settings of a whole queue and of its groups.

import { type TOptional, type TUnsafe, Type } from '@fastify/type-provider-typebox'
import type { QueueSettings, Throttle } from 'perilune'
import { strict } from '../api/arguments.ts'
import { group as groupNow, set } from './answers.ts'
import { DURATION, type QueueRoutes } from './arguments.ts'
import type { QueueOf } from './open.ts'

const COUNT = { type: 'integer', minimum: 1 }

/** A setting that null removes. The library checks its members. */
function setting<Value>(schema: object, description: string): TOptional<TUnsafe<Value>> {
  return Type.Optional(Type.Unsafe<Value>({ ...schema, description }))
}

const throttle = {
  concurrency: setting<NonNullable<Throttle['concurrency']> | null>(
    { type: ['integer', 'null'], minimum: 1, maximum: 1_000_000 },
    'Maximum number of claimed jobs; null: no limit.',
  ),
  rate: setting<NonNullable<Throttle['rate']> | null>(
    {
      type: ['object', 'null'],
      properties: { limit: COUNT, window: DURATION, burst: COUNT },
      required: ['limit', 'window'],
      additionalProperties: false,
    },
    'Maximum number of jobs claimed in a window, and the burst that may be saved up (default: the same number); null: no limit.',
  ),
}
const retention = setting<NonNullable<QueueSettings['retention']> | null>(
  {
    type: ['object', 'null'],
    properties: { count: COUNT, age: DURATION },
    additionalProperties: false,
  },
  'Number of completed jobs that are kept for inspection; null: none.',
)
const QueueSet = Type.Object({ ...throttle, retention }, strict)
const GroupSet = Type.Object(throttle, strict)
const group = Type.String({ minLength: 1, description: 'A group of jobs.' })

export function queueSettings(routes: QueueRoutes, open: QueueOf): void {
  wholeQueue(routes, open)
  groups(routes.with({ path: { group } }), open)
}

function wholeQueue(routes: QueueRoutes, open: QueueOf): void {
  const url = '/queues/:name'
  const config = { beginsQueue: true }

  routes.patch(
    `${url}/settings`,
    'Set',
    {
      description: 'Changes the named settings; the others stay unchanged.',
      body: QueueSet,
      answers: set,
      config,
    },
    async (request) => {
      await open(request).settings.set(request.body)
    },
  )

  routes.post(`${url}/pause`, 'Pause', { answers: set, config }, async (request) => {
    await open(request).settings.pause()
  })

  routes.post(`${url}/resume`, 'Resume', { answers: set, config }, async (request) => {
    await open(request).settings.resume()
  })
}

function groups(routes: QueueRoutes, open: QueueOf): void {
  const url = '/queues/:name/groups/:group'
  const config = { beginsQueue: true }

  routes.patch(
    url,
    'Set for a group',
    {
      description: 'Changes the named settings; the others stay unchanged.',
      body: GroupSet,
      answers: groupNow,
      config,
    },
    async (request) => open(request).settings.setGroup(request.params.group, request.body),
  )

  routes.post(`${url}/pause`, 'Pause a group', { answers: groupNow, config }, async (request) =>
    open(request).settings.pauseGroup(request.params.group),
  )

  routes.post(`${url}/resume`, 'Resume a group', { answers: groupNow, config }, async (request) =>
    open(request).settings.resumeGroup(request.params.group),
  )
}
