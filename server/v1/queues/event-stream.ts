// What happens in a queue, as server-sent events.

import type { QueueEvent } from 'perilune'

const HEARTBEAT_MS = 15_000

/** Text of the stream, until the signal aborts, which ends the events. */
export async function* queueEvents(
  events: AsyncGenerator<QueueEvent, void, undefined>,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  yield 'retry: 1000\n\n'
  let coming = next(events)
  try {
    for (;;) {
      const told = await orHeartbeat(coming)
      if (told === null) yield ': heartbeat\n\n'
      else if (told.done) return
      else {
        coming = next(events)
        yield encodeEvent(told.value)
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    await events.return()
  }
}

/** How the events end is told when the client has read what was before: until then nobody else looks at it. */
function next(events: AsyncGenerator<QueueEvent, void, undefined>): ReturnType<typeof events.next> {
  const coming = events.next()
  coming.catch(() => undefined)
  return coming
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
