// See lua/shared/counters/partition.lua, add.lua and retention.lua.

import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = [
  'meta',
  'values',
  'pending',
  'rest',
  'sealed',
  'clean',
  'once',
  'ahead',
  'board',
  'noted',
  'shown',
  'idle',
]

export function faultsOf(unit: Snapshot): string[] {
  const meta = unit.hash('meta')
  const said = (field: string): string => meta.get(field)?.toString('latin1') ?? ''
  const open = new Set(['pending', 'rest', 'sealed'].flatMap((part) => [...unit.hash(part).keys()]))
  const clean = unit.scores('clean')
  const values = unit.hash('values')
  return [
    ...pile(unit, 'pending', Number(said('pending_ms')) > 0),
    ...pile(unit, 'rest', Number(said('rest_ms')) > 0),
    ...pile(unit, 'sealed', said('batch') !== ''),
    ...[...clean.keys()]
      .filter((id) => open.has(id))
      .map((id) => `${id} is to be written, and may be evicted`),
    ...[...clean.keys()]
      .filter((id) => !values.has(id))
      .map((id) => `${id} may be evicted, and is not there`),
    ...(open.size > 0 && unit.leftMs('meta') >= 0
      ? ['increments are to be written, and the partition ends']
      : []),
  ]
}

/** Increments are there exactly where the state says so. */
function pile(unit: Snapshot, part: string, isThere: boolean): string[] {
  if (unit.has(part) === isThere) return []
  return [
    isThere
      ? `the state tells of ${part}, and none is there`
      : `${part} is there, and the state tells of none`,
  ]
}
