// See lua/shared/collection/state.lua.

import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = ['meta', 'items', 'build']

const KINDS = new Set(['list', 'set', 'hash', 'sortedSet'])

export function faultsOf(unit: Snapshot): string[] {
  const meta = unit.hash('meta')
  if (meta.size === 0) return unit.has('items') ? ['items without a state'] : []
  const said = (field: string): number => Number(meta.get(field) ?? 0)
  const kind = String(meta.get('kind'))
  const isLive = said('expires_at_ms') > unit.nowMs
  if (!isLive) return []
  return [
    ...(KINDS.has(kind) ? [] : [`kind ${kind}`]),
    ...(unit.size('items') === said('size')
      ? []
      : [`${unit.size('items')} items, and the state says ${said('size')}`]),
    ...(unit.leftMs('meta') < 0 ? ['the state never goes'] : []),
    ...(unit.has('items') && unit.leftMs('items') < 0 ? ['the items never go'] : []),
  ]
}
