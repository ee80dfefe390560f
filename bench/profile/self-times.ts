// Where a client spends its time, from a profile: by function, without what it called.

import type { Profiler } from 'node:inspector/promises'
import type { Row } from '../harness/print.ts'

/** The functions with most time first; idle time is left out. */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, calls: number): Row[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const spent = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id) ?? ''
    spent.set(name, (spent.get(name) ?? 0) + (timeDeltas[at] ?? 0))
  }
  spent.delete('(idle)')
  const total = [...spent.values()].reduce((sum, us) => sum + us, 0)
  return [...spent]
    .toSorted(([, a], [, b]) => b - a)
    .map(([variant, us]) => ({ variant, us: us / calls, share: us / total }))
}

function nameOf({ functionName, url, lineNumber }: Profiler.ProfileNode['callFrame']): string {
  const file = url.split('/').at(-1) ?? ''
  return file === '' ? functionName : `${functionName || 'anonymous'} (${file}:${lineNumber + 1})`
}
