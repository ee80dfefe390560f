// For what goes on for ever: an outage, however long, only interrupts it.

import { abortable, rest } from '../time/in-time.ts'
import { isOutage } from '../errors/outage.ts'
import { closed, type Runner } from './runner.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000

/**
 * What the work gives; while the store cannot decide it is done again, with growing pauses. Rejects with what is definite,
 * with the signal's reason, and once the library is closed.
 */
export async function throughOutages<Value>(
  work: () => Promise<Value>,
  runner: Runner,
  signal?: AbortSignal,
): Promise<Value> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await abortable(work, signal)
    } catch (error) {
      if (signal?.aborted || !isOutage(error)) throw error
      if (runner.closed) throw closed()
    }
    // Not all readers at once.
    await rest(pauseMs * (0.5 + Math.random() / 2), runner.deadlines, signal)
  }
}

/** For what is given one by one: throws the signal's reason, and DriverError `closed` once the library is closed. */
export function throwIfOver(runner: Runner, signal?: AbortSignal): void {
  signal?.throwIfAborted()
  if (runner.closed) throw closed()
}
