import { Backoff } from '../runtime/time/backoff.ts'
import type { Deadlines } from '../runtime/time/deadlines.ts'
import { rest } from '../runtime/time/in-time.ts'
import { SinkError } from './errors.ts'
import { sinkInTime } from './sink-in-time.ts'

const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 2000

/**
 * Does the same again while the database is away or busy, for so long; it is told until when. Ends with all that these
 * deadlines watch. Throws SinkError, or the reason of the signal.
 */
export async function patiently<Result>(
  work: (by: number) => Promise<Result>,
  patienceMs: number,
  deadlines: Deadlines,
  signal?: AbortSignal,
): Promise<Result> {
  const by = performance.now() + patienceMs
  const backoff = new Backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  for (;;) {
    const pauseMs = backoff.next()
    try {
      return await sinkInTime(work(by), by, deadlines)
    } catch (error) {
      const isPassing = error instanceof SinkError && error.isPassing
      if (!isPassing || performance.now() + pauseMs > by) throw error
    }
    await rest(pauseMs, deadlines, signal)
  }
}
