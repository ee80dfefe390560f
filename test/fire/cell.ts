// One run of the table: the topology, the client, the structures, the faults, and the seed of both.

import { seeded } from '../soak/random.ts'

export type ClientName = 'ioredis' | 'node-redis'
export const CLIENTS: readonly ClientName[] = ['ioredis', 'node-redis']

export interface Cell {
  readonly topology: string
  readonly client: ClientName
  /** All of them work side by side. */
  readonly structures: readonly string[]
  readonly fault: string
  readonly seed: number
}

/** The draws for one purpose of a run; the same seed draws the same. */
export function luckOf(cell: Pick<Cell, 'seed'>, purpose: string): () => number {
  let salt = cell.seed
  for (const letter of purpose) salt = Math.imul(salt ^ letter.charCodeAt(0), 16_777_619)
  return seeded(salt)
}

export function between(luck: () => number, least: number, most: number): number {
  return least + Math.floor(luck() * (most - least + 1))
}

export function oneOf<T>(luck: () => number, all: readonly T[]): T {
  const drawn = all[Math.floor(luck() * all.length)]
  if (drawn === undefined) throw new Error('there is nothing to draw from')
  return drawn
}

/** The command that runs it again. */
export function replayOf(cell: Cell, all: readonly string[]): string {
  const { topology, client, structures, fault, seed } = cell
  const named = structures.length === all.length ? '' : ` --structure ${structures.join(',')}`
  return `npm run fire -- --topology ${topology} --client ${client}${named} --fault ${fault} --seed ${seed}`
}
