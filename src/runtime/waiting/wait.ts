// Tries until there is a value, the time is over, or the caller aborts.

import type { Runtime } from '../connection/runtime.ts'
import { openWithin } from '../subscriptions/open-within.ts'
import { type Duration, toMs } from '../values/duration.ts'
import { type Look, lookOrSleep, lookUnlessAborted } from './look-or-sleep.ts'

export interface Waiting {
  /** How long to wait when nothing is available yet, up to one hour; default: not at all. */
  wait?: Duration
  /** Aborts the waiting: the promise rejects with the signal's reason. */
  signal?: AbortSignal
}

/** Milliseconds of `wait`, an hour at most; 0 without it. Throws InvalidArgumentError. */
export function toWaitMs({ wait }: Waiting): number {
  return wait === undefined ? 0 : toMs('wait', wait, { min: '0ms', max: '1h' })
}

/** `value` is null when there was nothing; look again after `recheckMs` (0: only when woken). */
export interface WaitAttempt<Value> {
  value: Value | null
  recheckMs: number
}

export interface WaitTerms<Value> {
  runtime: Runtime
  /** One channel, or several: a wake-up on any of them ends the sleep. */
  channel: string | readonly string[]
  waitMs: number
  signal: AbortSignal | undefined
  /** Gives back a value that arrives after the signal has aborted, if others could use it. */
  giveBack?: (late: Value) => Promise<unknown>
}

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

/** Resolves to null when there was no value for `waitMs`. Rejects at once when the instance closes. */
export async function waitFor<Value>(
  attempt: () => Promise<WaitAttempt<Value>>,
  terms: WaitTerms<Value>,
): Promise<Value | null> {
  const { runtime, channel, waitMs, signal } = terms
  signal?.throwIfAborted()
  const look = async (): Promise<Look<Value | null>> => {
    const { value, recheckMs } = await attempt()
    return { value, found: value !== null, recheckMs }
  }
  const giveBack = async (late: Value | null): Promise<unknown> => late !== null && terms.giveBack?.(late)
  const first = await lookUnlessAborted(look, { signal, giveBack })
  if (first.found || waitMs === 0) return first.value
  const endsAt = performance.now() + waitMs
  const { mailbox, runner } = runtime
  const reopening = mailbox.reopeningAt(
    ...[channel].flat().map((each) => runner.driver.placeOf?.(each) ?? ''),
  )
  const opening = await openWithin(reopening, () => runtime.wakes.watch(channel), waitMs, signal)
  const { deadlines } = runtime.runner
  try {
    return await lookOrSleep(look, { opening, endsAt, rechecks: RECHECKS, deadlines, signal, giveBack })
  } finally {
    opening.close()
  }
}
