// The contenders, connected to one server.

import type { Bench } from '../harness/bench.ts'
import { firstLine } from '../harness/first-line.ts'
import { toRow } from '../locks/about.ts'
import type { Contender, Source, Terms } from './contender.ts'
import { CACHES } from './contenders.ts'

export interface Opened {
  readonly sources: ReadonlyMap<string, Source>
  /** Why a contender is not measured. */
  readonly skipped: Readonly<Record<string, string>>
}

export async function openAll(port: number, contenders: readonly Contender[], terms: Terms): Promise<Opened> {
  const sources = new Map<string, Source>()
  const skipped: Record<string, string> = {}
  for (const contender of contenders) {
    try {
      sources.set(contender.name, await contender.connect(port, terms))
    } catch (error) {
      skipped[contender.name] = firstLine(error)
    }
  }
  return { sources, skipped }
}

/** Prints who is measured with which settings. Resolves to the names of those who can run here. */
export async function reportSettings(bench: Bench): Promise<ReadonlySet<string>> {
  const { sources, skipped } = await openAll(bench.port, CACHES, { freshMs: 1000 })
  for (const source of sources.values()) await source.close()
  const rows = CACHES.map((contender) => toRow(contender, skipped[contender.name]))
  bench.report('contenders and their settings', rows)
  return new Set(sources.keys())
}
