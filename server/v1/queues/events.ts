import { Type } from '@fastify/type-provider-typebox'
import type { JobEventKind, QueueEvent } from 'perilune'
import { AnswerPieces } from '../../http/answers/pieces.ts'
import { Slices } from '../../process/slices.ts'
import { flag, strict } from '../api/arguments.ts'
import { eventsOfQueue } from './answers.ts'
import { type QueueRoutes, spread, text } from './arguments.ts'
import type { QueueOf } from './open.ts'

const Query = Type.Object(
  {
    kinds: text('Only of these kinds, with commas between: `acked,dead`.'),
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

export function queueEventStream(routes: QueueRoutes, open: QueueOf): void {
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
      return reply.headers(HEADERS).send(AnswerPieces.ofTexts(queueEvents(events, signal, slices)))
    },
  )
}

const HEARTBEAT_MS = 15_000
/** To write each event by itself would take longer than all else. */
const TOLD_TOGETHER = 16_384

/** Text of the stream, until the signal aborts, which ends the events. */
export async function* queueEvents(
  events: AsyncGenerator<QueueEvent, void, undefined>,
  signal: AbortSignal,
  slices: Slices,
): AsyncGenerator<string, void, undefined> {
  yield 'retry: 1000\n\n'
  let asked = new Asked(events)
  try {
    for (;;) {
      const told = await orHeartbeat(asked.told)
      if (told === null) {
        yield ': heartbeat\n\n'
        continue
      }
      if (told.done) return
      yield await slices.begin(async () => {
        let written = ''
        while (asked.event !== null && written.length < TOLD_TOGETHER) {
          written += encodeEvent(asked.event)
          asked = new Asked(events)
          // By then it is known whether the next one is here.
          await Promise.resolve()
        }
        return written
      })
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await events.return()
  }
}

/** The next event. How the events end is told when the client has read what was before: until then nobody else looks at it. */
class Asked {
  readonly told: Promise<IteratorResult<QueueEvent, void>>
  /** Null: it is not here, or there is none. */
  event: QueueEvent | null = null

  constructor(events: AsyncGenerator<QueueEvent, void, undefined>) {
    this.told = events.next()
    const note = ({ done, value }: IteratorResult<QueueEvent, void>): void => {
      if (done !== true) this.event = value
    }
    this.told.then(note, () => undefined)
  }
}

/** Null when there was nothing for so long. */
async function orHeartbeat<Value>(coming: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), HEARTBEAT_MS)
  })
  try {
    return await Promise.race([coming, silence])
  } finally {
    clearTimeout(timer)
  }
}

function encodeEvent({ kind, ...told }: QueueEvent): string {
  return `event: ${kind}\ndata: ${JSON.stringify(told)}\n\n`
}
