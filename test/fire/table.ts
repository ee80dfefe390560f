// The whole table, or the part of it that was asked for.

import { type Cell, CLIENTS, type ClientName } from './cell.ts'
import { FAULTS } from './faults/all.ts'
import { TOPOLOGIES } from './topologies/all.ts'
import { WORKLOADS } from './workloads/all.ts'

export const STRUCTURES: readonly string[] = Object.keys(WORKLOADS)

/** Unnamed dimensions are included completely. */
export interface Wanted {
  readonly topologies?: readonly string[]
  readonly clients?: readonly string[]
  readonly structures?: readonly string[]
  readonly faults?: readonly string[]
  readonly seeds: readonly number[]
}

/** In the order in which stages can be used again. */
export function cellsOf(wanted: Wanted): Cell[] {
  const topologies = chosen(wanted.topologies, Object.keys(TOPOLOGIES), 'topology')
  const clients = chosen(wanted.clients, CLIENTS, 'client') as ClientName[]
  const faults = chosen(wanted.faults, Object.keys(FAULTS), 'fault')
  const structures = chosen(wanted.structures, STRUCTURES, 'structure')
  return topologies.flatMap((topology) =>
    faults
      .filter((fault) => FAULTS[fault]?.on?.includes(topology) ?? true)
      .flatMap((fault) =>
        clients.flatMap((client) =>
          wanted.seeds.map((seed) => ({ topology, client, structures, fault, seed })),
        ),
      ),
  )
}

function chosen(wanted: readonly string[] | undefined, known: readonly string[], what: string): string[] {
  const stranger = wanted?.find((name) => !known.includes(name))
  if (stranger !== undefined) throw new Error(`there is no ${what} ${stranger}: one of ${known.join(', ')}`)
  return [...(wanted ?? known)]
}
