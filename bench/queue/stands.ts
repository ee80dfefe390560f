// The contenders set up on a server, for as long as something is measured.

import { Redis } from 'ioredis'
import type { Bench } from '../harness/bench.ts'
import { firstLine } from '../harness/first-line.ts'
import { toRow } from '../locks/about.ts'
import type { Contender, Job, Source } from './contender.ts'
import { ADDERS, QUEUES } from './contenders.ts'

/** A source that offers `Part`. */
export type With<Part extends keyof Source> = Source & Required<Pick<Source, Part>>

export interface Stands {
  /** By name. */
  readonly sources: ReadonlyMap<string, Source>
  /** Those that offer something, and heed all of `fields`. */
  offering<Part extends keyof Source>(part: Part, ...fields: (keyof Job)[]): ReadonlyMap<string, With<Part>>
  /** Forgets all data, not the scripts. */
  empty(): Promise<unknown>
}

/** Prints who is measured with which settings, and who cannot run here. */
export async function reportSettings(bench: Bench): Promise<void> {
  const all = [...new Set([...ADDERS, ...QUEUES])]
  const { sources, skipped } = await openAll(bench.port, all)
  for (const source of sources.values()) await source.close()
  const rows = all.map((contender) => toRow(contender, skipped[contender.name]))
  bench.report('contenders and their settings', rows)
}

/** Connects all, or those of `contenders`, and closes them again. */
export async function withStands(
  bench: Bench,
  measure: (stands: Stands) => Promise<void>,
  contenders: readonly Contender[] = QUEUES,
): Promise<void> {
  const client = new Redis(bench.port)
  const { sources } = await openAll(bench.port, contenders)
  try {
    await measure({
      sources,
      offering: (part, ...fields) => offering(sources, part, fields),
      empty: () => client.flushall('SYNC'),
    })
  } finally {
    for (const source of sources.values()) await source.close()
    await client.flushall('SYNC')
    client.disconnect()
  }
}

interface Opened {
  readonly sources: ReadonlyMap<string, Source>
  /** Why a contender is not measured. */
  readonly skipped: Readonly<Record<string, string>>
}

async function openAll(port: number, contenders: readonly Contender[]): Promise<Opened> {
  const sources = new Map<string, Source>()
  const skipped: Record<string, string> = {}
  for (const contender of contenders) {
    try {
      // Variants of one package stand side by side, each on a queue of its own.
      sources.set(contender.name, await contender.connect(port, `bench-${sources.size}`))
    } catch (error) {
      skipped[contender.name] = firstLine(error)
    }
  }
  return { sources, skipped }
}

function offering<Part extends keyof Source>(
  sources: ReadonlyMap<string, Source>,
  part: Part,
  fields: readonly (keyof Job)[],
): ReadonlyMap<string, With<Part>> {
  const found = new Map<string, With<Part>>()
  for (const { name, heeds } of QUEUES) {
    const source = sources.get(name)
    if (source === undefined || !fields.every((field) => heeds.includes(field))) continue
    if (offers(source, part)) found.set(name, source)
  }
  return found
}

export function offers<Part extends keyof Source>(source: Source, part: Part): source is With<Part> {
  return source[part] !== undefined
}
