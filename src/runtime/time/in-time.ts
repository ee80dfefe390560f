// Promises that are waited for so long, or until a signal aborts, and no longer. What comes after that is taken here, so
// that no rejection is left unhandled.

import { onAbort } from './aborts.ts'
import type { Deadlines } from './deadlines.ts'
import { DriverError, PeriluneError } from '../errors/errors.ts'
import { setAlarm } from './alarm.ts'

/**
 * The promise's value; DriverError `unreachable` when it is not there `by` then, or fails with no error of ours. Ends with
 * all that these deadlines watch.
 */
export function inTime<Value>(promise: Promise<Value>, by: number, deadlines: Deadlines): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (cause?: unknown): void =>
      reject(new DriverError('unreachable', 'no server answered before the deadline', { cause }))
    const failed = (error: unknown): void => (error instanceof PeriluneError ? reject(error) : late(error))
    const due = { by, giveUp: (reason?: Error) => (reason === undefined ? late() : reject(reason)) }
    deadlines.add(due)
    settle(promise, resolve, failed, () => deadlines.remove(due))
  })
}

/**
 * What code of the user answers, which may never: null where nothing has come `by` then, or all ends that these deadlines watch.
 * Rejects as the answer does before.
 */
export function answered<Value>(
  answer: Value | PromiseLike<Value>,
  by: number,
  deadlines: Deadlines,
): Promise<{ readonly value: Value } | null> {
  return new Promise((resolve, reject) => {
    const due = { by, giveUp: () => resolve(null) }
    deadlines.add(due)
    settle(
      Promise.resolve(answer),
      (value) => resolve({ value }),
      reject,
      () => deadlines.remove(due),
    )
  })
}

/** Resolves after `ms`. Rejects with the signal's reason, and ends with all that these deadlines watch. */
export function rest(ms: number, deadlines: Deadlines, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const due = {
      by: performance.now() + ms,
      giveUp: (reason?: Error): void => {
        forget()
        if (reason === undefined) resolve()
        else reject(reason)
      },
    }
    const forget = onAbort(signal, () => {
      deadlines.remove(due)
      reject(signal?.reason)
    })
    deadlines.add(due)
  })
}

/** As the promise; rejects after `ms`, or with the signal's reason. */
export function within<Value>(promise: Promise<Value>, ms: number, signal?: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('too late'))
    settle(promise, resolve, reject, setAlarm(ms, signal, { late, aborted: reject }))
  })
}

/**
 * As the promise; rejects with the signal's reason when that comes first, or has come before. `giveBack` gets the value
 * that comes after that; what it throws ends by itself.
 */
export function unlessAborted<Value>(
  promise: Promise<Value>,
  signal?: AbortSignal,
  giveBack?: (late: Value) => Promise<unknown>,
): Promise<Value> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const forget = onAbort(signal, () => {
      reject(signal.reason)
      if (giveBack !== undefined) promise.then(giveBack).catch(() => undefined)
    })
    // An abort of the same turn has given the value back.
    const take = (value: Value): void => void (signal.aborted || resolve(value))
    settle(promise, take, reject, forget)
  })
}

/** As the promise of the work, which is not begun where the signal has aborted. Rejects with the signal's reason. */
export async function abortable<Value>(work: () => Promise<Value>, signal?: AbortSignal): Promise<Value> {
  signal?.throwIfAborted()
  return unlessAborted(work(), signal)
}

/** Resolves after `ms`. Rejects with the signal's reason. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    setAlarm(ms, signal, { late: resolve, aborted: reject })
  })
}

/** One promise less than `then` and `finally`, and each of them is handled. */
function settle<Value>(
  promise: Promise<Value>,
  resolve: (value: Value) => void,
  reject: (error: unknown) => void,
  over: () => void,
): void {
  const settled =
    <Told>(tell: (told: Told) => void) =>
    (told: Told): void => {
      over()
      tell(told)
    }
  promise.then(settled(resolve), settled(reject))
}
