// Tries until there is something, the time is over, or the caller aborts.

import { type Duration, toMs } from './duration.ts'
import { rest, within } from './in-time.ts'
import type { Runtime } from './runtime.ts'
import type { Watch } from './wake.ts'

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

export interface WaitTerms {
  runtime: Runtime
  /** One channel, or several: a wake on any of them counts. */
  channel: string | readonly string[]
  waitMs: number
  signal: AbortSignal | undefined
}

// With a live subscription this is a safety net; without one (it may be forbidden) the way of waiting.
const RECHECK_MS = 10_000
const RECHECK_UNWATCHED_MS = 500

/** Resolves to null when there was nothing for `waitMs`. Rejects at once when the instance closes. */
export async function waitFor<Value>(
  attempt: () => Promise<Attempt<Value>>,
  terms: WaitTerms,
): Promise<Value | null> {
  terms.signal?.throwIfAborted()
  const first = await attempt()
  if (first.value !== null || terms.waitMs === 0) return first.value
  const endsAt = performance.now() + terms.waitMs
  const watch = await tryWatch(terms, endsAt)
  try {
    return await sleepAndTry(attempt, watch, endsAt, terms)
  } finally {
    watch?.close()
  }
}

async function sleepAndTry<Value>(
  attempt: () => Promise<Attempt<Value>>,
  watch: Watch | null,
  endsAt: number,
  { runtime, signal }: WaitTerms,
): Promise<Value | null> {
  for (;;) {
    signal?.throwIfAborted()
    const { value, recheckMs } = await attempt()
    const leftMs = Math.ceil(endsAt - performance.now())
    if (value !== null || leftMs <= 0) return value
    const longest = watch === null ? RECHECK_UNWATCHED_MS : RECHECK_MS
    const ms = Math.min(leftMs, longest, recheckMs === 0 ? Infinity : recheckMs)
    await (watch === null ? rest(ms, runtime.runner.deadlines, signal) : watch.sleep(ms, signal))
  }
}

async function tryWatch({ runtime, channel, signal }: WaitTerms, endsAt: number): Promise<Watch | null> {
  const watching = runtime.wakes.watch(channel)
  try {
    return await within(watching, endsAt - performance.now(), signal)
  } catch {
    signal?.throwIfAborted()
    // Came too late: nobody will use it.
    watching.then((watch) => watch.close()).catch(() => undefined)
    return null
  }
}
