// Tries until there is something, the time is over, or the caller aborts.

import { type Duration, toMs } from '../values/duration.ts'
import { longestSleepMs } from '../subscriptions/hearing.ts'
import { type Opening, openWithin, rest, unlessAborted } from '../time/in-time.ts'
import type { Runtime } from '../connection/runtime.ts'
import type { Watch } from '../subscriptions/wake.ts'

export interface Waiting {
  /** How long to wait when there is nothing yet; default: not at all. */
  wait?: Duration
  /** Ends the waiting: the promise rejects with the signal's reason. */
  signal?: AbortSignal
}

/** Milliseconds of `wait`, an hour at most; 0 when there is none. Throws InvalidArgumentError. */
export function toWaitMs({ wait }: Waiting): number {
  return wait === undefined ? 0 : toMs('wait', wait, { min: '0ms', max: '1h' })
}

/** `value` is null when there was nothing; look again after `recheckMs` (0: only when woken). */
export interface Attempt<Value> {
  value: Value | null
  recheckMs: number
}

export interface WaitTerms<Value> {
  runtime: Runtime
  /** One channel, or several: a wake on any of them counts. */
  channel: string | readonly string[]
  waitMs: number
  signal: AbortSignal | undefined
  /** For what an attempt brings after the signal has aborted, if others could have it. */
  giveBack?: (late: Value) => Promise<unknown>
}

const RECHECKS = { heardMs: 10_000, unheardMs: 500 }

/** Resolves to null when there was nothing for `waitMs`. Rejects at once when the instance closes. */
export async function waitFor<Value>(
  attempt: () => Promise<Attempt<Value>>,
  terms: WaitTerms<Value>,
): Promise<Value | null> {
  terms.signal?.throwIfAborted()
  const first = await attemptOnce(attempt, terms)
  if (first.value !== null || terms.waitMs === 0) return first.value
  const endsAt = performance.now() + terms.waitMs
  const opening = await tryWatch(terms, endsAt)
  try {
    return await sleepAndTry(attempt, opening, endsAt, terms)
  } finally {
    opening.close()
  }
}

async function sleepAndTry<Value>(
  attempt: () => Promise<Attempt<Value>>,
  opening: Opening<Watch>,
  endsAt: number,
  terms: WaitTerms<Value>,
): Promise<Value | null> {
  const { runtime, signal } = terms
  for (;;) {
    signal?.throwIfAborted()
    // Before it is tried: what is told from here on is heard.
    const watch = opening.now
    const { value, recheckMs } = await attemptOnce(attempt, terms)
    const leftMs = Math.ceil(endsAt - performance.now())
    if (value !== null || leftMs <= 0) return value
    const longest = longestSleepMs(watch, RECHECKS)
    const ms = Math.min(leftMs, longest, recheckMs === 0 ? Infinity : recheckMs)
    await (watch === null ? rest(ms, runtime.runner.deadlines, signal) : watch.sleep(ms, signal))
  }
}

function attemptOnce<Value>(
  attempt: () => Promise<Attempt<Value>>,
  { signal, giveBack }: WaitTerms<Value>,
): Promise<Attempt<Value>> {
  if (giveBack === undefined) return unlessAborted(attempt(), signal)
  return unlessAborted(attempt(), signal, async ({ value }) => value !== null && giveBack(value))
}

function tryWatch<Value>(
  { runtime, channel, signal }: WaitTerms<Value>,
  endsAt: number,
): Promise<Opening<Watch>> {
  return openWithin(runtime.wakes.watch(channel), endsAt - performance.now(), signal)
}
