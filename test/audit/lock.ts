// See lua/shared/lock/state.lua and readers.lua.

import { lineFaults } from './line.ts'
import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = ['state', 'queue', 'readers', 'reader-ids', 'fenced']

export function faultsOf(unit: Snapshot): string[] {
  const text = unit.text('state')
  if (text === null) return unit.has('queue') ? ['tickets stand in line, and the state is gone'] : []
  const [, mode = '', token = '', endsAt = '', lastTicket = ''] =
    /^1 (.) (\d+) (\d+) (\d+) \S+ \S* .*$/s.exec(text) ?? []
  if (mode === '') return [`the state is unreadable: ${text}`]
  const live = [...unit.scores('readers')].filter(([, end]) => end > unit.nowMs)
  const held = ['x', 's'].includes(mode) && Number(endsAt) > unit.nowMs
  return [
    ...(mode === 's' || live.length === 0 ? [] : [`${live.length} readers hold it in mode ${mode}`]),
    ...(mode === 's' && held && live.length === 0 ? ['it is shared, and no reader holds it'] : []),
    ...live
      .filter(([, end]) => end > Number(endsAt))
      .map(([reader]) => `reader ${reader} ends after the last of all`),
    ...live
      .filter(([reader]) => Number(reader) > Number(token))
      .map(([reader]) => `${reader} is above the newest token`),
    ...readerFaults(unit),
    ...lineFaults(unit, 'queue', Number(lastTicket)),
  ]
}

/** Each reader has its entry, and the id in it leads back; nothing else is there. */
function readerFaults(unit: Snapshot): string[] {
  const readers = unit.scores('readers')
  const ids = unit.hash('reader-ids')
  const faults: string[] = []
  for (const token of readers.keys()) {
    const id = /^(\S*) /.exec(String(ids.get(token)))?.[1]
    if (id === undefined) faults.push(`reader ${token} has no entry`)
    else if (String(ids.get(id)) !== token && String(ids.get(`i${id}`)) !== token) {
      faults.push(`attempt ${id} does not lead to reader ${token}`)
    }
  }
  const known = new Set(readers.keys())
  for (const [field, value] of ids) {
    if (!known.has(field) && !known.has(String(value))) faults.push(`${field} is an orphan`)
  }
  return faults
}
