import { Type } from '@fastify/type-provider-typebox'
import type { JobEventKind } from 'perilune'
import type { App } from '../fastify.ts'
import { Pieces } from '../pieces.ts'
import { Slices } from '../slices.ts'
import { answers } from '../v1/answers.ts'
import { flag } from '../v1/arguments.ts'
import { NamePath, strict } from '../v1/coordination/arguments.ts'
import type { Parts } from '../v1/coordination/lending.ts'
import { eventsOfQueue } from '../v1/queues/answers.ts'
import { spread, text } from '../v1/queues/arguments.ts'
import { queueEvents } from '../v1/queues/event-stream.ts'
import type { Open } from '../v1/queues/open.ts'

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

export function queueEventStream(app: App, { waits }: Parts, open: Open): void {
  const slices = new Slices()
  const schema = {
    tags: ['queues'],
    summary: 'Follow as server-sent events',
    description: 'What happens from now on. `gap` says that events may be missing before the next one.',
    params: NamePath,
    querystring: Query,
    response: answers(eventsOfQueue),
  }
  app.get('/queues/:name/events', { schema, exposeHeadRoute: false }, async (request, reply) => {
    const { kinds, name, id, tracked } = request.query
    const options = {
      ...(kinds === undefined ? {} : { kinds: kinds.split(',') as JobEventKind[] }),
      ...(name === undefined ? {} : { names: [name] }),
      ...(id === undefined ? {} : { ids: [id] }),
      ...(tracked === undefined ? {} : { tracked }),
    }
    const signal = waits.begin(reply)
    const events = open(request).events({ ...options, signal })
    return reply.headers(HEADERS).send(Pieces.ofTexts(queueEvents(events, signal, slices)))
  })
}
