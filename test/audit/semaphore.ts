// See lua/shared/semaphore/permits.lua and permit.lua.

import { lineFaults } from './line.ts'
import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = ['state', 'queue', 'permits', 'ids']

export function faultsOf(unit: Snapshot): string[] {
  const text = unit.text('state')
  if (text === null) return stateless(unit)
  const found = /^1 (\d+) (\d) (\d+) (\d+) (\d+) (\d+) (\d+)$/.exec(text)
  if (found === null) return [`the state is unreadable: ${text}`]
  const [, , used = 0, token = 0, soonestMs = 0, lastMs = 0, lastTicket = 0] = found.slice(1).map(Number)
  const permits = unit.scores('permits')
  const ids = unit.hash('ids')
  const ends = [...permits.values()]
  const weights = [...permits.keys()].map((each) => Number(/^\d+/.exec(String(ids.get(each)))?.[0]))
  const sum = weights.reduce((all, weight) => all + weight, 0)
  return [
    ...(sum === used ? [] : [`${used} are used, and the permits weigh ${sum}`]),
    ...ends.filter((end) => end < soonestMs).map((end) => `a permit ends at ${end}, before the soonest`),
    ...ends.filter((end) => end > lastMs).map((end) => `a permit ends at ${end}, after the last`),
    ...[...permits.keys()]
      .filter((each) => Number(each) > token)
      .map((each) => `${each} is above the newest token`),
    ...idFaults(permits, ids),
    ...lineFaults(unit, 'queue', lastTicket),
  ]
}

/** Permits may outlive the state, and are then not counted any more. */
function stateless(unit: Snapshot): string[] {
  const live = [...unit.scores('permits').values()].filter((end) => end > unit.nowMs)
  return [
    ...(live.length > 0 ? ['permits are out, and the state is gone'] : []),
    ...(unit.has('queue') ? ['tickets stand in line, and the state is gone'] : []),
  ]
}

/** Each permit has its entry, and the id in it leads back; nothing else is there. */
function idFaults(permits: ReadonlyMap<string, number>, ids: ReadonlyMap<string, Buffer>): string[] {
  const faults: string[] = []
  for (const token of permits.keys()) {
    const [, , id] = /^(\d+) (\S+) /.exec(String(ids.get(token))) ?? []
    if (id === undefined) faults.push(`permit ${token} has no entry`)
    else if (String(ids.get(`i${id}`)) !== token)
      faults.push(`attempt ${id} does not lead to permit ${token}`)
  }
  for (const [field, value] of ids) {
    const token = field.startsWith('i') ? String(value) : field
    if (!permits.has(token)) faults.push(`${field} is an orphan`)
  }
  return faults
}
