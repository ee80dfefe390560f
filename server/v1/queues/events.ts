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
    kinds: text('Only of these kinds, separated by commas: `acked,dead`.'),
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
      description: 'The events from now on. `gap` says that events may be missing before the next one.',
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
/** Writing each event by itself would take longer than everything else. */
const WRITTEN_TOGETHER = 16_384

/** The text of the stream, until the signal aborts, which ends the events. */
export async function* queueEvents(
  events: AsyncGenerator<QueueEvent, void, undefined>,
  signal: AbortSignal,
  slices: Slices,
): AsyncGenerator<string, void, undefined> {
  yield 'retry: 1000\n\n'
  let asked = new Asked(events)
  try {
    for (;;) {
      const result = await orHeartbeat(asked.result)
      if (result === null) {
        yield ': heartbeat\n\n'
        continue
      }
      if (result.done) return
      yield await slices.begin(async () => {
        let written = ''
        while (asked.event !== null && written.length < WRITTEN_TOGETHER) {
          written += encodeEvent(asked.event)
          asked = new Asked(events)
          // After this it is known whether the next event is available.
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

/**
 * The next event. The end of the events, or their error, is reported after the client has read the events before it:
 * until then it must not be an unhandled rejection.
 */
class Asked {
  readonly result: Promise<IteratorResult<QueueEvent, void>>
  /** Null: it is not available yet, or there is none. */
  event: QueueEvent | null = null

  constructor(events: AsyncGenerator<QueueEvent, void, undefined>) {
    this.result = events.next()
    const note = ({ done, value }: IteratorResult<QueueEvent, void>): void => {
      if (done !== true) this.event = value
    }
    this.result.then(note, () => undefined)
  }
}

/** Null if nothing arrived for so long. */
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

function encodeEvent({ kind, ...members }: QueueEvent): string {
  return `event: ${kind}\ndata: ${JSON.stringify(members)}\n\n`
}
