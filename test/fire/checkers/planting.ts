// Histories that are written by hand, for the tests of the checkers: sound ones, into which one fault is planted.

import type { Call, Facts, History, Sight } from '../history.ts'
import type { Terms } from '../terms.ts'

export const NO_TERMS: Terms = { trouble: [], losses: [], leaps: [], stops: [] }

/** A call that takes one millisecond and goes well, at so many milliseconds. */
export function call(what: string, key: string, atMs: number, more: Partial<Call> = {}): Call {
  return {
    process: 0,
    structure: 'planted',
    what,
    key,
    given: {},
    beganAt: atMs * 1000,
    dueMs: 3000,
    settledAt: atMs * 1000 + 1000,
    outcome: 'ok',
    got: {},
    error: null,
    ...more,
  }
}

export function sight(what: string, key: string, facts: Facts = {}, atMs = 0, process = 0): Sight {
  return { process, structure: 'planted', what, key, at: atMs * 1000, facts }
}

/** Something that a process believed to hold, from one millisecond to another. */
export function held(key: string, token: number, fromMs: number, untilMs: number, process = 0): Sight {
  const facts = { token, fromUs: fromMs * 1000, untilUs: untilMs * 1000, isHeld: true }
  return sight('held', key, facts, untilMs, process)
}

/** As `held`, and then it was lost. */
export function lost(key: string, token: number, fromMs: number, untilMs: number): Sight {
  const had = held(key, token, fromMs, untilMs)
  return { ...had, facts: { ...had.facts, isHeld: false } }
}

export function history(calls: readonly Call[], sights: readonly Sight[] = []): History {
  return { calls: calls.toSorted((a, b) => a.beganAt - b.beganAt), sights, crashes: [] }
}

export function lossFrom(fromMs: number, untilMs: number): Terms {
  return { ...NO_TERMS, losses: [{ fromUs: fromMs * 1000, untilUs: untilMs * 1000 }] }
}
