// What happens in a queue, as server-sent events.

import type { QueueEvent } from 'perilune'
import type { Slices } from '../../process/slices.ts'

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
        let text = ''
        while (asked.event !== null && text.length < TOLD_TOGETHER) {
          text += encodeEvent(asked.event)
          asked = new Asked(events)
          // By then it is known whether the next one is here.
          await Promise.resolve()
        }
        return text
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
