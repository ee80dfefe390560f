import { Type } from '@fastify/type-provider-typebox'
import type { JobEventKind } from 'perilune'
import { Pieces } from '../../http/answers/pieces.ts'
import { Slices } from '../../process/slices.ts'
import { flag, strict } from '../api/arguments.ts'
import { eventsOfQueue } from './answers.ts'
import { spread, text, type QueueRoutes } from './arguments.ts'
import { queueEvents } from './event-stream.ts'
import type { Open } from './open.ts'

const Query = Type.Object(
  {
    kinds: text('Only of these kinds, with commas between: `acked,buried`.'),
    name: text('Only of jobs with this name.'),
    id: text('Only of this job.'),
    tracked: flag('true: only of jobs that are tracked.'),
    ...spread,
  },
  strict,
)
const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
}

export function queueEventStream(routes: QueueRoutes, open: Open): void {
  const slices = new Slices()
  routes.get(
    '/queues/:name/events',
    'Follow as server-sent events',
    {
      query: Query,
      description: 'What happens from now on. `gap` says that events may be missing before the next one.',
      answers: eventsOfQueue,
      exposeHeadRoute: false,
    },
    async (request, reply) => {
      const { kinds, name, id, tracked } = request.query
      const options = {
        ...(kinds === undefined ? {} : { kinds: kinds.split(',') as JobEventKind[] }),
        ...(name === undefined ? {} : { names: [name] }),
        ...(id === undefined ? {} : { ids: [id] }),
        ...(tracked === undefined ? {} : { tracked }),
      }
      const signal = routes.waits.begin(reply)
      const events = open(request).events({ ...options, signal })
      return reply.headers(HEADERS).send(Pieces.ofTexts(queueEvents(events, signal, slices)))
    },
  )
}
