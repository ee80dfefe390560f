// The loop of all who wait for what others make: a wake, a job, a value.
//
//   LOOK ──found──► its value
//    ▲ │
//    │ nothing ──the time is over──► the value of this last look
//    │ ▼
//   SLEEP until woken, until it is time to look again, or until the time is over
//
// From each of these an aborted signal leads out with its reason, and an instance that closes with DriverError `closed`. No wake is
// lost between a look and the sleep behind it: the ear is taken before the look, and keeps what it is told.

import { type Ear, longestSleepMs, type Rechecks } from '../subscriptions/ear.ts'
import type { Opening } from '../subscriptions/open-within.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { rest, unlessAborted } from '../time/in-time.ts'

/** What those who wait are woken by. */
export interface Waker extends Ear {
  /** Resolves at the next wake, at one that came since the last sleep, or after `ms`. Rejects with the signal's reason. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<unknown>
}

export interface Look<Value> {
  readonly value: Value
  /** It is what was waited for. */
  readonly found: boolean
  /** When to look again at the latest; 0: when woken, or when a wake may have been lost. */
  readonly recheckMs: number
}

export interface LookTerms<OneWaker extends Waker, Value> {
  /** By which it is woken; while it is not open, it looks more often. */
  readonly opening: Pick<Opening<OneWaker>, 'now'>
  /** `performance.now()` at which the waiting ends. */
  readonly endsAt: number
  readonly rechecks: Rechecks
  /** By which sleeps end when the instance closes. */
  readonly deadlines: Deadlines
  readonly signal: AbortSignal | undefined
  /** For what a look finds after the signal has aborted, if others could have it. */
  giveBack?(late: Value): Promise<unknown>
}

/** Resolves to the value of the last look. `look` is given the ear by which others can wake it; null: there is none. */
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

/** One look, of those who have not begun to listen, too. */
export function lookUnlessAborted<Value>(
  look: () => Promise<Look<Value>>,
  { signal, giveBack }: Pick<LookTerms<Waker, Value>, 'signal' | 'giveBack'>,
): Promise<Look<Value>> {
  return unlessAborted(look(), signal, giveBack && (async ({ value, found }) => found && giveBack(value)))
}
