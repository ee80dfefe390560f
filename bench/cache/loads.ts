// What the loads of all processes tell.

import { largest } from '../harness/statistics.ts'
import type { LoadNote } from './job.ts'

/** The most loads of one key that were under way at the same time. */
export function mostAtOnce(loads: readonly LoadNote[]): number {
  const byKey = grouped(loads)
  return largest([0, ...[...byKey.values()].map(mostOfOne)])
}

function grouped(loads: readonly LoadNote[]): Map<string, LoadNote[]> {
  const byKey = new Map<string, LoadNote[]>()
  for (const load of loads) {
    const same = byKey.get(load.key)
    if (same === undefined) byKey.set(load.key, [load])
    else same.push(load)
  }
  return byKey
}

function mostOfOne(loads: readonly LoadNote[]): number {
  const begun = loads.map(({ askedAtMs }) => askedAtMs).toSorted((a, b) => a - b)
  const ended = loads.map(({ answeredAtMs }) => answeredAtMs).toSorted((a, b) => a - b)
  let [over, most] = [0, 0]
  for (const [at, atMs] of begun.entries()) {
    while ((ended[over] ?? Infinity) <= atMs) over++
    most = Math.max(most, at + 1 - over)
  }
  return most
}

/** How many keys were loaded. */
export function keysLoaded(loads: readonly LoadNote[]): number {
  return new Set(loads.map(({ key }) => key)).size
}

export interface Cycles {
  /** When there was nothing yet. */
  readonly cold: number
  /** After that, for each time that a value lasts. */
  readonly perCycle: number
}

/** Of one key whose values last so long, the first loads apart. */
export function toCycles(loads: readonly LoadNote[], freshMs: number): Cycles {
  const begun = loads.map(({ askedAtMs }) => askedAtMs).toSorted((a, b) => a - b)
  const [first = 0, last = 0] = [begun[0], begun.at(-1)]
  const cold = begun.filter((atMs) => atMs < first + freshMs / 2).length
  return { cold, perCycle: ((begun.length - cold) * freshMs) / (last - first) }
}
