// See lua/shared/once/state.lua.

import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = ['state']

const FIELDS = new Set([
  'layout',
  'codec',
  'token',
  'attempt',
  'fingerprint',
  'lease_ends_ms',
  'result',
  'kept_until_ms',
  'unkept',
])

export function faultsOf(unit: Snapshot): string[] {
  if (!unit.has('state')) return []
  const state = unit.hash('state')
  // An attempt that was given back is no longer valid, whatever its record says.
  const counts = state.has('result') || state.has('lease_ends_ms')
  const untilMs = counts ? Number(state.get('kept_until_ms') ?? 0) : 0
  return [
    ...[...state.keys()].filter((field) => !FIELDS.has(field)).map((field) => `${field} is an orphan`),
    ...(unit.leftMs('state') < 0 ? ['it never goes'] : []),
    ...(untilMs > unit.nowMs + unit.leftMs('state') ? ['it goes before its result is over'] : []),
    ...(state.has('unkept') && String(state.get('result')) !== ''
      ? ['a result, and none could be kept']
      : []),
  ]
}
