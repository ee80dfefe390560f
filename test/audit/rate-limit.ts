// See lua/shared/rate-limit/subject.lua.

import type { Snapshot } from './snapshot.ts'

export const PARTS: readonly string[] = ['state']

const METERS = ['gcra:', 'sliding-window:', 'concurrency:']

export function faultsOf(unit: Snapshot): string[] {
  if (!unit.has('state')) return []
  const state = unit.hash('state')
  const meters = [...state].filter(([field]) => METERS.some((meter) => field.startsWith(meter)))
  const endsMs = unit.nowMs + aheadMs(state.get('time'), unit.nowMs) + unit.leftMs('state')
  return [
    ...(String(state.get('layout')) === '1' ? [] : ['no layout']),
    ...(unit.leftMs('state') < 0 ? ['it never goes'] : []),
    ...meters
      .filter(([, packed]) => packed.length % 8 !== 0 || packed.length < 16)
      .map(([field]) => `${field} is cut off`),
    ...meters
      .filter(([, packed]) => packed.length >= 16 && packed.readDoubleBE(0) > endsMs + 1000)
      .map(([field]) => `it goes before ${field} is over`),
  ]
}

/** How far the time of a subject is ahead of the server's, which may have stepped back since the newest take. */
function aheadMs(time: Buffer | undefined, nowMs: number): number {
  if (time === undefined) return 0
  const [takenUs, offsetUs] =
    time.length < 24 ? [time.readDoubleBE(0), 0] : [time.readDoubleBE(8), time.readDoubleBE(16)]
  return Math.max(offsetUs / 1000, takenUs / 1000 - nowMs)
}
