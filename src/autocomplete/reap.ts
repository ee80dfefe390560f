// Removes expired entries that hide others from a query: one call at a time, shared by all queries of this process.

import { type ReapAnswer, reap } from '../generated/autocomplete.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'

const underWay = new WeakMap<Runtime, Map<string, Promise<ReapAnswer>>>()

/** Joins the call that is under way, or makes one for this query. `fuzzy`: also for matches with one edit. */
export function reapTogether(unit: Unit, query: string, fuzzy: boolean): Promise<ReapAnswer> {
  const calls = underWay.get(unit.runtime) ?? new Map<string, Promise<ReapAnswer>>()
  underWay.set(unit.runtime, calls)
  const joined = calls.get(unit.prefix)
  if (joined !== undefined) return joined
  const call = unit.run(reap, { query, fuzzy }).finally(() => calls.delete(unit.prefix))
  calls.set(unit.prefix, call)
  return call
}
