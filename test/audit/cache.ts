// See lua/shared/cache/load.lua and envelope.lua.

import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = ['value', 'load', 'generation']

const MOST_WAITERS = 10_000

export function faultsOf(unit: Snapshot): string[] {
  const load = unit.hash('load')
  const said = (field: string): number => Number(load.get(field) ?? 0)
  const waiters = (load.get('waiters')?.toString('latin1') ?? '').split(' ').filter((id) => id !== '')
  return [
    ...unit.parts
      .filter((part) => part !== 'generation' && unit.leftMs(part) < 0)
      .map((part) => `${part} never goes`),
    ...(said('lease_ends_ms') > 0 && said('token') === 0 ? ['a load without a token'] : []),
    ...(said('failed') > said('token') ? ['a load failed that never was'] : []),
    ...(waiters.length > MOST_WAITERS ? [`${waiters.length} wait`] : []),
    ...(said('lease_ends_ms') > unit.nowMs + unit.leftMs('load')
      ? ['the load goes before its lease is over']
      : []),
  ]
}
