import { grouped } from '../grouped.ts'
import type { Call, Facts, History } from '../history.ts'
import type { Terms } from '../terms.ts'

/** The faults of a history, in words; `history`: of one structure. */
export type Checker = (history: History, terms: Terms) => string[]

export function callsOf(history: History, what: string, outcome?: Call['outcome']): Call[] {
  return history.calls.filter(
    (call) => call.what === what && (outcome === undefined || call.outcome === outcome),
  )
}

export function byKey<T extends { readonly key: string }>(all: readonly T[]): Map<string, T[]> {
  return grouped(all, ({ key }) => key)
}

export function numberOf(facts: Facts, name: string): number {
  return Number(facts[name])
}

/** Seconds after the first call, for people. */
export function instant(history: History, us: number): string {
  return `${((us - (history.calls[0]?.beganAt ?? us)) / 1e6).toFixed(3)} s`
}
