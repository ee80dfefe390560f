// What the reader must know of the contenders: their settings, and who cannot run here.

import type { Bench } from '../harness/bench.ts'
import { peerVersion } from '../harness/peers.ts'
import type { Row } from '../harness/print.ts'
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
  const rows = contenders.map((contender) => toRow(contender, skipped[contender.name]))
  bench.report('contenders and their settings', rows)
}

/** `why` it cannot run, if it cannot. */
export function toRow(
  { name, peer, settings }: Pick<Contender, 'name' | 'peer' | 'settings'>,
  why?: string,
): Row {
  if (why !== undefined) return { variant: name, version: '', settings: `not measured: ${why}` }
  return { variant: name, version: peer === undefined ? '' : peerVersion(peer), settings }
}
