// Statistics of a queue.

import { type TOptional, type TUnsafe, Type } from '@fastify/type-provider-typebox'
import { strict } from '../api/arguments.ts'
import { stats } from './answers.ts'
import { spread, text, type QueueRoutes } from './arguments.ts'
import type { QueueOf } from './open.ts'

const instant = (description: string): TOptional<TUnsafe<number>> =>
  Type.Optional(Type.Unsafe<number>({ type: 'integer', minimum: 1, description }))

const Wanted = Type.Object(
  {
    name: text('Only jobs of this name.'),
    by: Type.Optional(
      Type.Unsafe<'minute' | 'hour' | 'day'>({
        type: 'string',
        enum: ['minute', 'hour', 'day'],
        description: 'How long a period is; default minute.',
      }),
    ),
    last: instant(
      'The maximum number of periods; default: all that are stored: 120 minutes, 72 hours, 90 days.',
    ),
    from: instant('The time of the first period, in Unix milliseconds.'),
    to: instant('The time of the last period, in Unix milliseconds; default now.'),
    ...spread,
  },
  strict,
)

export function queueStats(routes: QueueRoutes, open: QueueOf): void {
  routes.get('/queues/:name/stats', 'Statistics', { query: Wanted, answers: stats }, async (request) => {
    const queue = open(request)
    const { partitions: _, ...wanted } = request.query
    const [{ periods, total }, names] = await Promise.all([queue.stats(wanted), queue.names()])
    return { periods, total, names }
  })
}
