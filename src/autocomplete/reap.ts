// Removing entries that have expired, where they hide others from who asks: one call at a time, for all that ask in this process.

import { type ReapAnswer, reap } from '../generated/autocomplete.ts'
import type { Runtime } from '../runtime/connection/runtime.ts'
import type { Unit } from '../runtime/connection/unit.ts'

const underWay = new WeakMap<Runtime, Map<string, Promise<ReapAnswer>>>()

/** The call that is under way, or one for this query. `fuzzy`: those with one edit are asked for, too. */
export function reapTogether(unit: Unit, query: string, fuzzy: boolean): Promise<ReapAnswer> {
  const calls = underWay.get(unit.runtime) ?? new Map<string, Promise<ReapAnswer>>()
  underWay.set(unit.runtime, calls)
  const joined = calls.get(unit.prefix)
  if (joined !== undefined) return joined
  const call = unit.run(reap, { query, fuzzy }).finally(() => calls.delete(unit.prefix))
  calls.set(unit.prefix, call)
  return call
}
