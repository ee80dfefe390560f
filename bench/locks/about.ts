// What the reader must know of the contenders: their settings, and who cannot run here.

import type { Bench } from '../harness/bench.ts'
import type { Contender, Terms } from './contender.ts'
import { openStands } from './stand.ts'

export async function reportSettings(
  bench: Bench,
  contenders: readonly Contender[],
  terms: Terms,
): Promise<void> {
  const crew = { port: bench.port, clients: 1, connections: 'own' } as const
  const { stands, skipped } = await openStands(contenders, terms, crew)
  for (const stand of stands) await stand.close()
  const rows = contenders.map(({ name, settings }) => {
    const why = skipped[name]
    return { variant: name, settings: why === undefined ? settings : `not measured: ${why}` }
  })
  bench.report('contenders and their settings', rows)
}
