// For endless work: an outage of any length only interrupts it.

import { ExponentialBackoff } from '../time/backoff.ts'
import { abortable, rest } from '../time/in-time.ts'
import { isOutage } from '../errors/outage.ts'
import { closed, type Runner } from './runner.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000

/**
 * The result of the work; while the store cannot decide it is retried, with growing pauses. Rejects with definite
 * errors, with the signal's reason, and once the library is closed.
 */
export async function throughOutages<Value>(
  work: () => Promise<Value>,
  runner: Runner,
  signal?: AbortSignal,
): Promise<Value> {
  const backoff = new ExponentialBackoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS)
  for (;;) {
    try {
      return await abortable(work, signal)
    } catch (error) {
      if (signal?.aborted || !isOutage(error)) throw error
      if (runner.closed) throw closed()
    }
    await rest(backoff.next(), runner.deadlines, signal)
  }
}

/** For iterations: throws the signal's reason, and DriverError `closed` once the library is closed. */
export function throwIfOver(runner: Runner, signal?: AbortSignal): void {
  signal?.throwIfAborted()
  if (runner.closed) throw closed()
}
