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

import { type Ear, longestSleepMs, type Rechecks } from '../subscriptions/hearing.ts'
import type { Deadlines } from '../time/deadlines.ts'
import { type Opening, rest } from '../time/in-time.ts'

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

export interface LookTerms<OneWaker extends Waker> {
  /** By which it is woken; while it is not open, it looks more often. */
  readonly opening: Opening<OneWaker>
  /** `performance.now()` at which the waiting ends. */
  readonly endsAt: number
  readonly rechecks: Rechecks
  /** By which sleeps end when the instance closes. */
  readonly deadlines: Deadlines
  readonly signal: AbortSignal | undefined
}

/** Resolves to the value of the last look. `look` is given the ear by which others can wake it; null: there is none. */
export async function lookOrSleep<Value, OneWaker extends Waker>(
  look: (waker: OneWaker | null) => Promise<Look<Value>>,
  { opening, endsAt, rechecks, deadlines, signal }: LookTerms<OneWaker>,
): Promise<Value> {
  for (;;) {
    signal?.throwIfAborted()
    const waker = opening.now
    const { value, found, recheckMs } = await look(waker)
    const leftMs = Math.ceil(endsAt - performance.now())
    if (found || leftMs <= 0) return value
    const ms = Math.min(leftMs, longestSleepMs(waker, rechecks), recheckMs === 0 ? Infinity : recheckMs)
    await (waker === null ? rest(ms, deadlines, signal) : waker.sleep(ms, signal))
  }
}
