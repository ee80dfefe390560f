// Promises with a time limit or an abort signal. A later result is handled here, so that no rejection stays unhandled.

import { onAbort } from './aborts.ts'
import type { Deadlines } from './deadlines.ts'
import type { Driver } from '../../driver.ts'
import { PeriluneError } from '../errors/errors.ts'
import { unanswered } from '../errors/outage.ts'
import { setAlarm } from './alarm.ts'

/**
 * The promise's value. Rejects with DriverError `unreachable` after `by`, or when the promise fails with an error of
 * another library. Ends when these deadlines end. `driver`: the one that is waited for, whose address the error names.
 */
export function inTime<Value>(
  promise: Promise<Value>,
  by: number,
  deadlines: Deadlines,
  driver: Pick<Driver, 'address'> = {},
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (cause?: unknown): void => reject(unanswered('', driver, cause))
    const failed = (error: unknown): void => (error instanceof PeriluneError ? reject(error) : late(error))
    const due = { by, giveUp: (reason?: Error) => (reason === undefined ? late() : reject(reason)) }
    deadlines.add(due)
    settle(promise, resolve, failed, () => deadlines.remove(due))
  })
}

/**
 * The result of user code, which may never settle: null when there is none by `by`, or when these deadlines end.
 * Rejects if the result rejects before.
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

/** Resolves after `ms`. Rejects with the signal's reason, and when these deadlines end. */
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

/** Settles like the promise; rejects after `ms`, or with the signal's reason. */
export function within<Value>(promise: Promise<Value>, ms: number, signal?: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('too late'))
    settle(promise, resolve, reject, setAlarm(ms, signal, { late, aborted: reject }))
  })
}

/**
 * Settles like the promise; rejects with the signal's reason if that comes first, or has come before. `giveBack` gets a
 * value that arrives later; its errors are ignored.
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
    // An abort in the same turn has given the value back.
    const take = (value: Value): void => void (signal.aborted || resolve(value))
    settle(promise, take, reject, forget)
  })
}

/**
 * Settles like the promise of the work, which does not begin if the signal has aborted. Rejects with the signal's
 * reason.
 */
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

/** One promise less than with `then` and `finally`, each of which would need handling. */
function settle<Value>(
  promise: Promise<Value>,
  resolve: (value: Value) => void,
  reject: (error: unknown) => void,
  over: () => void,
): void {
  const settled =
    <Outcome>(pass: (outcome: Outcome) => void) =>
    (outcome: Outcome): void => {
      over()
      pass(outcome)
    }
  promise.then(settled(resolve), settled(reject))
}
