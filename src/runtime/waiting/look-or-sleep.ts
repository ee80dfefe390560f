// The loop of all waiters: for a wake-up, a job, a value.
//
//   LOOK ──found──► its value
//    ▲ │
//    │ nothing ──the time is over──► the value of this last look
//    │ ▼
//   SLEEP until woken, until the next poll is due, or until the time is over
//
// In each state, an aborted signal rejects with its reason, and a closing instance with DriverError `closed`. No
// wake-up is lost between a look and the sleep after it: the subscription is opened before the look, and keeps what
// arrives.

import { type Ear, longestSleepMs, type Rechecks } from '../subscriptions/ear.ts'
import type { Opening } from '../subscriptions/open-within.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { rest, unlessAborted } from '../time/in-time.ts'

/** Wakes a waiter. */
export interface Waker extends Ear {
  /**
   * Resolves at the next wake-up, at once if one came since the last sleep, or after `ms`. Rejects with the signal's
   * reason.
   */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<unknown>
}

export interface Look<Value> {
  readonly value: Value
  /** True when the awaited event has happened. */
  readonly found: boolean
  /** When to poll again at the latest; 0: only when woken, or when a wake-up may have been lost. */
  readonly recheckMs: number
}

export interface LookTerms<OneWaker extends Waker, Value> {
  /** Its waker; until that is open, the waiter polls more often. */
  readonly opening: Pick<Opening<OneWaker>, 'now'>
  /** `performance.now()` at which the waiting ends. */
  readonly endsAt: number
  readonly rechecks: Rechecks
  /** End the sleeps when the instance closes. */
  readonly deadlines: Deadlines
  readonly signal: AbortSignal | undefined
  /** Gives back what a look finds after the signal has aborted, if others could use it. */
  giveBack?(late: Value): Promise<unknown>
}

/** Resolves to the value of the last look. `look` gets the open waker; null: there is none. */
export async function lookOrSleep<Value, OneWaker extends Waker>(
  look: (waker: OneWaker | null) => Promise<Look<Value>>,
  terms: LookTerms<OneWaker, Value>,
): Promise<Value> {
  const { opening, endsAt, rechecks, deadlines, signal } = terms
  for (;;) {
    signal?.throwIfAborted()
    const waker = opening.now
    const { value, found, recheckMs } = await lookUnlessAborted(() => look(waker), terms)
    const leftMs = Math.ceil(endsAt - performance.now())
    if (found || leftMs <= 0) return value
    const ms = Math.min(leftMs, longestSleepMs(waker, rechecks), recheckMs === 0 ? Infinity : recheckMs)
    await (waker === null ? rest(ms, deadlines, signal) : waker.sleep(ms, signal))
  }
}

/** One look, for callers that do not listen yet. */
export function lookUnlessAborted<Value>(
  look: () => Promise<Look<Value>>,
  { signal, giveBack }: Pick<LookTerms<Waker, Value>, 'signal' | 'giveBack'>,
): Promise<Look<Value>> {
  return unlessAborted(look(), signal, giveBack && (async ({ value, found }) => found && giveBack(value)))
}
